# The gallery's page has each simulator, with its picture and figures, and is what samples/gallery.py makes; hosts and what they share are short.
python3 "$ROOT/samples/gallery.py" --check
lines()
{
    cat "$@" | wc -l
}
for e in "$ROOT"/samples/*/expected; do
    folder=$(dirname "$e") name=$(basename "$(dirname "$e")")
    test "$(lines "$folder"/*.c)" -le 200 || { echo "$name: more than 200 lines of C"; exit 1; }
    test -f "$folder/README.md" || { echo "$name: no README.md"; exit 1; }
    grep -qw "$name" "$ROOT"/tests/install/gallery_*.sh || { echo "$name: no test runs what it expects"; exit 1; }
done
test "$(lines "$ROOT"/samples/common/*.[ch] "$ROOT"/samples/common/sample.mk)" -le 1000 || { echo "samples/common: more than 1,000 lines"; exit 1; }
