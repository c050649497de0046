-- Neovim: the language server of tkc. From 0.7 on.
local M = {}
local client

local function command()
  return vim.g.tk_lsp or { 'tkc', '--lsp' }
end

-- The C of the adjoint of the kernel at the cursor, in a window of its own.
function M.show_adjoint()
  local params = vim.lsp.util.make_position_params(0, 'utf-16')
  vim.lsp.buf_request(0, 'tkc/showAdjoint', params, function(err, result)
    if err or not result or result.error then
      vim.notify('tkc: ' .. (err and err.message or result and result.error or 'no answer'), vim.log.levels.WARN)
      return
    end
    vim.cmd('new')
    vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(result.text, '\n'))
    vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile, vim.bo.filetype = 'nofile', 'wipe', false, 'c'
  end)
end

function M.format()
  if vim.lsp.buf.format then
    vim.lsp.buf.format({ timeout_ms = 2000 })
  else
    vim.lsp.buf.formatting_sync({}, 2000)
  end
end

local function attached(_, buffer)
  local function map(keys, what)
    vim.keymap.set('n', keys, what, { buffer = buffer })
  end
  map('K', vim.lsp.buf.hover)
  map('gd', vim.lsp.buf.definition)
  map('<C-]>', vim.lsp.buf.definition)
  vim.bo[buffer].omnifunc = 'v:lua.vim.lsp.omnifunc'
  vim.api.nvim_buf_create_user_command(buffer, 'TkAdjoint', M.show_adjoint, { desc = 'Show the adjoint' })
  if vim.g.tk_format_on_save then
    vim.api.nvim_create_autocmd('BufWritePre', { buffer = buffer, callback = M.format })
  end
end

function M.start()
  local buffer = vim.api.nvim_get_current_buf()
  if not client or not vim.lsp.get_client_by_id(client) then
    client = vim.lsp.start_client({ name = 'tkc', cmd = command(), on_attach = attached, root_dir = vim.fn.getcwd() })
  end
  if client then
    vim.lsp.buf_attach_client(buffer, client)
  end
end

return M
