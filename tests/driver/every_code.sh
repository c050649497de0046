# Each code of diag.def stands in a test's expectation: a .diag file, a script of this folder, or a unit test for what no program can reach.
cd "$ROOT"
missing=0
scripts=$(ls tests/driver/*.sh | grep -v every_code)
for code in $(sed -n 's/^DIAG([^"]*"\([EW][0-9]*\)".*/\1/p' compiler/util/diag.def); do
    cat tests/*/*.diag | grep -q "\[$code\]$" || grep -q "$code" $scripts tests/unit/test_activity.c || { echo "no test expects $code"; missing=1; }
done
files=$(grep -l 'error: ' tests/*/*.diag | wc -l)
[ "$files" -ge 80 ] || { echo "only $files malformed inputs"; missing=1; }
exit $missing
