# tkc --lsp: what a client of tests/lsp asks for, and what none should; wrong usage.
# slow: 5
# inputs: grammar compiler/lsp compiler/syntax compiler/check compiler/files compiler/driver tests/lsp
case $("$TKC" --lsp </dev/null 2>&1) in
*'without jansson'*) echo "this tkc was built without jansson (Debian: libjansson-dev)"; exit 77 ;;
esac
for wrong in 'a.tk --lsp' '--lsp -o x.c' '--lsp --emit=c' '--lsp --format' '--lsp -g' '--lsp --prefix=x' '--lsp --explain-adjoint' '--lsp --check-ir-text' '--lsp -MD'; do
    status=0
    # shellcheck disable=SC2086
    "$TKC" $wrong </dev/null >out 2>err || status=$?
    [ $status = 2 ] || { echo "tkc $wrong: status $status"; cat err; exit 1; }
done
python3 "$ROOT/tests/lsp/session.py" "$TKC" "$PWD"
# memory freed waits under sanitizers: there it is not held
if [ -n "${SANITIZE-}" ]; then
    python3 "$ROOT/tests/lsp/rough.py" "$TKC" "$ROOT" 60 sanitized
else
    python3 "$ROOT/tests/lsp/rough.py" "$TKC" "$ROOT" 1000
fi
