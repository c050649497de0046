# Good programs with tokens, lines and bytes removed, doubled and replaced: a diagnostic at a place in the file, or C that compiles.
# slow: 4
cd "$ROOT/tests"
python3 tools/mangle.py --tkc "$TKC" --cc "$CC" --count 200 run/*.tk ad/*.tk parallel/*.tk check/*_good.tk rules/legal.tk ../samples/*/*.tk
# And one of them cut off at every byte of its first lines.
head -c 400 ../samples/gravity/gravity.tk >"$OLDPWD/whole"
cd "$OLDPWD"
n=0
while [ $n -lt 400 ]; do
    head -c $n whole >in.tk
    status=0
    "$TKC" in.tk -o out.c 2>err || status=$?
    case $status in
    0) [ -e out.c ] && rm out.c out.h ;;
    1) grep -q '^in.tk:[0-9]*:[0-9]*: error: .* \[E[0-9]*\]$' err && [ ! -e out.c ] && [ ! -e out.h ] ;;
    *) false ;;
    esac || { echo "cut off at byte $n: status $status"; cat err; exit 1; }
    n=$((n + 3))
done
