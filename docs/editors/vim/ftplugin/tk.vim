if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1
setlocal commentstring=//\ %s comments=:///,:// cindent shiftwidth=4 expandtab
setlocal errorformat=%f:%l:%c:\ %trror:\ %m,%f:%l:%c:\ %tarning:\ %m,%f:%l:%c:\ %tote:\ %m,%-G%.%#
setlocal makeprg=tkc\ %\ --emit=c\ -o\ /dev/null
setlocal formatprg=tkc\ --format\ /dev/stdin
let b:undo_ftplugin = 'setlocal commentstring< comments< cindent< shiftwidth< expandtab< errorformat< makeprg< formatprg<'

" Neovim has a client for `tkc --lsp` of its own. g:tk_lsp = v:false: not here; a list: the command in place of tkc --lsp
if has('nvim') && get(g:, 'tk_lsp', ['tkc', '--lsp']) isnot v:false && executable(get(g:, 'tk_lsp', ['tkc'])[0])
  lua require('tk').start()
endif
