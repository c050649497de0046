" Not setfiletype: Vim itself takes *.tk for Tcl/Tk. A file whose first line is Tcl is left to it.
function! s:detect() abort
  let first = get(filter(getline(1, 200), 'v:val =~# "\\S"'), 0, '')
  if first !~# '^\s*\(#\|\(package\|proc\|namespace\|source\|wm\|pack\|set\|button\|frame\|global\)\s\)'
    set filetype=tk
  endif
endfunction
autocmd BufNewFile,BufRead *.tk call s:detect()
