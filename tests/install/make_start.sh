# docs/start.md: its program with make, as it stands there, builds and prints what the page says; again with the dependency files that compilers write beside tkc's.
unset MAKEFLAGS
python3 "$ROOT/tests/tools/steps.py" "$ROOT/docs/start.md" make >steps.sh
mkdir empty
cd empty
export CC CFLAGS='-Wall -Wextra -Wconversion -Werror -MMD'
sh ../steps.sh
test -s ball.d -a -s ball.tk.d
grep -q '^ball\.c' ball.tk.d
