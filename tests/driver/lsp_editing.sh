# tkc --lsp: renames, inlay hints, semantic tokens, folding, symbols of the folder, and the work of an edit.
# inputs: compiler/lsp compiler/syntax compiler/check compiler/files tests/lsp samples
case $("$TKC" --lsp </dev/null 2>&1) in
*'without jansson'*) echo "this tkc was built without jansson (Debian: libjansson-dev)"; exit 77 ;;
esac
mkdir folder
python3 "$ROOT/tests/lsp/editing.py" "$TKC" "$ROOT" "$PWD/folder"
