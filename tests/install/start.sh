# docs/start.md: its ten steps, as they stand there, make a simulator whose derivative is right, and which reaches its goal.
# inputs: build-files runtime docs/start.md samples/common tests/tools/steps.py
mkdir samples
cp -R "$ROOT/samples/common" samples
cd samples || exit
python3 "$ROOT/tests/tools/steps.py" "$ROOT/docs/start.md" >steps.sh
export CC CFLAGS=-Werror
sh steps.sh >out 2>message || { cat out message; exit 1; }
# by the tape and by differences
awk '/ by the tape, / { d = $7 - $11; if (d < 0) d = -d; size = $7 < 0 ? -$7 : $7; exit !(d < 1e-6 * size) }' out || { cat out; exit 1; }
# the first loss and the last
awk '/ before, / { found = 1; exit !($3 > 0.01 && $5 < 1e-4) } END { exit !found }' out || { cat out; exit 1; }
test -s slingshot/slingshot.png
