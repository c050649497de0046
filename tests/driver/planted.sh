# The planted bugs still fit the code they are planted in.
command -v patch >/dev/null || { echo "no patch(1) here"; exit 77; }
cd "$ROOT"
for p in tests/planted/*.patch; do
    patch -s -F0 -p1 --dry-run <"$p" >/dev/null || { echo "$p does not apply"; exit 1; }
done
