# The sample through its Makefile: it comes to the noise of what was seen, also from a file; wrong files have a message with the line.
# inputs: build-files runtime samples/bundle c:samples/bundle/*.tk
cp -R "$ROOT/samples/bundle" .
cd bundle || exit
make CC="$CC" CFLAGS="-O2 -Werror" >log 2>&1 || { cat log; exit 1; }
make check CC="$CC" >out || { cat out; exit 1; }
grep -q '^Jacobians deviate .* right$' out
grep -qx 'adjustment: converged' out
deviation() { awk '/^standard deviation/ { print $6 }' "$1"; }
near() { awk -v a="$1" -v b="$2" -v part="$3" 'BEGIN { exit !(a > b * (1 - part) && a < b * (1 + part)) }'; }
near "$(deviation out)" 0.5 0.03
for options in "--seed=2 --noise=2" "--seed=3 --noise=2 --cameras=5 --points=100"; do
    # shellcheck disable=SC2086 # words
    ./bundle $options --png=x.png >out || { cat out; exit 1; }
    test -s x.png
    near "$(deviation out)" 2 0.06
    rm x.png
done
# Without noise nothing is left.
./bundle --cameras=4 --points=60 --noise=0 --png= >out || { cat out; exit 1; }
test "$(deviation out)" = 0.0000

# A problem of few numbers, from a file and back: where it ends is where it stays.
./bundle --cameras=4 --points=40 --png= --save=scene.txt >first
./bundle --input=scene.txt --png= >second
test "$(deviation first)" = "$(deviation second)"
near "$(awk '$1 == "0" { print $2 }' second)" "$(awk '$1 ~ /^[0-9]+$/ && NF >= 3 && $2 ~ /\./ { cost = $2 } END { print cost }' first)" 1e-6

expect()
{
    status=0
    ./bundle --png= "$@" >out 2>message || status=$?
    test $status = "${want:?}"
}
want=1 expect --iterations=2
grep -qx 'adjustment: NOT CONVERGED' out
want=1 expect --input=/nonexistent
grep -q '/nonexistent: No such file' message
want=1 expect --save=/nonexistent/x
want=1 expect --png=/nonexistent/x.png
# LINE and message
broken()
{
    want=1 expect --input=bad.txt
    grep -qx "bundle: bad.txt:$1: $2" message || { cat message; exit 1; }
}
sights=$(awk 'NR == 1 { print $3 }' scene.txt)
: >bad.txt
broken 1 "the number of cameras is expected, and there is the end of the file"
echo "4 40" >bad.txt
broken 2 "the number of sights is expected, and there is the end of the file"
echo "4 40 1.5" >bad.txt
broken 1 "the number of sights is expected, and there is '1.5'"
echo "0 40 3" >bad.txt
broken 1 "the number of cameras is 1 to 100000, not 0"
echo "4 99999999999999999999 3" >bad.txt
broken 1 "the number of points is 1 to 100000000, not 99999999999999999999"
sed '3s/^[0-9]*/4/' scene.txt >bad.txt
broken 3 "the camera of a sight is 0 to 3, not 4"
awk 'NR == 5 { $2 = -1 } { print }' scene.txt >bad.txt
broken 5 "the point of a sight is 0 to 39, not -1"
awk 'NR == 2 { $4 = "nan" } { print }' scene.txt >bad.txt
broken 2 "a place that was seen is expected, and there is 'nan'"
head -n $((sights + 4)) scene.txt >bad.txt
broken $((sights + 5)) "a number of a camera is expected, and there is the end of the file"
sed '$d' scene.txt >bad.txt
broken $((sights + 4 * 9 + 40 * 3 + 1)) "a number of a point is expected, and there is the end of the file"
{ cat scene.txt; echo 7; } >bad.txt
broken $((sights + 4 * 9 + 40 * 3 + 2)) "the end of the file is expected, and there is '7'"
for wrong in --cameras=1 --points=7 --noise=-1 --noise=nan --off=1 --iterations=-1 --nonsense extra; do
    want=2 expect $wrong
    test -s message
done
