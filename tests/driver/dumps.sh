# What pages show of a kernel's way through the compiler is what tkc prints; another line is found, and written anew.
python3 "$ROOT/tests/tools/dumps.py" "$ROOT" "$TKC"
mkdir copy
cp -r "$ROOT/docs" "$ROOT/README.md" copy
sed -i 's/= cos %\([0-9]*\)/= sin %\1/' copy/docs/architecture.md
python3 "$ROOT/tests/tools/dumps.py" copy "$TKC" >said && { echo "a dump that is another one is not found"; exit 1; }
grep -q '^-.* = sin %' said
grep -q '^+.* = cos %' said
python3 "$ROOT/tests/tools/dumps.py" copy "$TKC" --update
cmp copy/docs/architecture.md "$ROOT/docs/architecture.md"
echo '<!-- dump: chain --emit=ir | nothing has this -->' >>copy/docs/architecture.md
python3 "$ROOT/tests/tools/dumps.py" copy "$TKC" >said && { echo "a mark without a block is not found"; exit 1; }
grep -q 'no block behind it' said
