# tkc and libtkc are built as distributions want it: addresses at random, tables read-only, checks of stacks and of buffers' sizes.
[ -z "$SANITIZE" ] || { echo "the sanitizers' own"; exit 77; }
folder=$(dirname "$TKC")/..
for file in "$TKC" "$folder/runtime/libtkc.so.0"; do
    readelf -h "$file" | grep -q 'Type: *DYN'
    readelf -Wl "$file" | grep -q GNU_RELRO
    readelf -Wl "$file" | grep GNU_STACK | grep -q 'RW '
    readelf -Wd "$file" | grep -Eq 'BIND_NOW|FLAGS.* NOW'
    readelf -Ws "$file" | grep -q __stack_chk_fail
    readelf -Ws "$file" | grep -Eq '__(sn|vsn|s|f|vf)printf_chk|__memcpy_chk'
done
