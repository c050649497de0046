-- Neovim's own client with docs/editors/vim, on a.tk: messages, an edit, formatting, hover, the adjoint.
local LONG = 3600000 -- milliseconds, far more than any answer takes: the runner ends a test that hangs
local function wait(what, f)
  if not vim.wait(LONG, f, 20) then
    print('no ' .. what .. '\n')
    vim.cmd('cquit')
  end
end
wait('client', function() return #vim.tbl_values(vim.lsp.buf_get_clients(0)) > 0 end)
wait('diagnostics', function() return #vim.diagnostic.get(0) == 1 end)
print(vim.diagnostic.get(0)[1].code, vim.diagnostic.get(0)[1].message, '\n')
vim.cmd('%s/q \\*/x */')
wait('end of diagnostics', function() return #vim.diagnostic.get(0) == 0 end)
require('tk').format()
print(vim.api.nvim_buf_get_lines(0, 1, 2, false)[1], '\n')
vim.fn.cursor(2, 15)
for _, v in pairs(vim.lsp.buf_request_sync(0, 'textDocument/hover', vim.lsp.util.make_position_params(0, 'utf-16'), LONG)) do
  print((v.result.contents.value:gsub('\n', ' ')), '\n')
end
require('tk').show_adjoint()
wait('adjoint', function() return vim.bo.filetype == 'c' end)
print(vim.api.nvim_buf_get_lines(0, 0, 1, false)[1], '\n')
vim.cmd('qall!')
