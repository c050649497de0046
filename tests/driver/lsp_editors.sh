# The editors' files with the language server: VS Code's extension in Node, with an editor that is none; Neovim and Vim themselves, where they are.
case $("$TKC" --lsp </dev/null 2>&1) in
*'without jansson'*) echo "this tkc was built without jansson (Debian: libjansson-dev)"; exit 77 ;;
esac
ran=
if command -v node >/dev/null; then
    mkdir work
    printf 'func other(a: real) -> real { return a; }\n' >work/b.tk
    node "$ROOT/tests/lsp/vscode.js" "$ROOT/docs/editors/vscode" "$TKC" "$(cd work && pwd -P)"
    ran="$ran node"
fi
printf 'field x: real needs_grad; field e: real needs_grad;\nkernel  k() { e += q * x; }\n' >a.tk
printf '#!/usr/bin/wish\nbutton .b\n' >tcl.tk
printf '\npack .b -side left\n' >pack.tk
if command -v nvim >/dev/null; then
    PATH=$(dirname "$TKC"):$PATH HOME=$PWD XDG_CONFIG_HOME=$PWD XDG_STATE_HOME=$PWD nvim --headless -u NONE --cmd "set rtp^=$ROOT/docs/editors/vim" \
        -c 'filetype plugin on' -c 'edit a.tk' -c "luafile $ROOT/tests/lsp/nvim.lua" >out 2>&1 || { cat out; exit 1; }
    tr -d '\r' <out | grep -q "E0202 unknown name 'q'" || { cat out; exit 1; }
    grep -q 'kernel k() { e += x \* x; }' out
    grep -q 'field e: real needs_grad' out
    grep -q 'The adjoint of k, as tkc generates it' out
    ran="$ran nvim"
fi
if vim --version 2>/dev/null | grep -q '+syntax'; then
    for file in a tcl pack; do
        vim -Nu NONE -es -c "set rtp^=$ROOT/docs/editors/vim" -c 'filetype plugin on' -c "edit $file.tk" -c "redir! > type" -c 'echo &filetype' -c 'redir END' -c 'qa!' || true
        case $file in
        a) grep -qx 'tk' type ;;
        *) ! grep -qx 'tk' type || exit 1 ;;
        esac
    done
    PATH=$(dirname "$TKC"):$PATH vim -Nu NONE -es -c "set rtp^=$ROOT/docs/editors/vim" -c 'filetype plugin on' -c 'edit a.tk' -c 'normal gggqG' -c 'write! formatted' -c 'qa!' || true
    grep -q '^kernel k() { e += q \* x; }' formatted
    ran="$ran vim"
fi
[ -n "$ran" ] || { echo "there is no node, nvim or vim (Debian: nodejs, neovim, vim)"; exit 77; }
