" Not setfiletype: Vim itself takes *.tk for Tcl/Tk.
autocmd BufNewFile,BufRead *.tk set filetype=tk
