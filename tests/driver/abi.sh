# runtime/abi.txt is what headers and library have, and what docs/c-api/abi.md forbids is refused.
# slow: 15
# inputs: runtime docs meson.build compiler/emit tests/tools/abi.py
library=$(dirname "$TKC")/../runtime/libtkc.so
python3 "$ROOT/tests/tools/abi.py" "$ROOT" "$library"

fresh()
{
    rm -rf copy
    mkdir -p copy/docs copy/compiler/emit
    cp -r "$ROOT/runtime" "$ROOT/meson.build" copy
    cp "$ROOT/compiler/emit/emit_int.h" copy/compiler/emit
    { echo '# Release notes'; [ -z "$1" ] || echo "## $1, 2026-12-01"; } >copy/docs/changelog.md
    version=$(sed -n "s/^project(.*version: '\([0-9.]*\)'.*/\1/p" copy/meson.build)
}
# edit FILE SED: a change that must be one
edit()
{
    sed "$2" "copy/$1" >edited
    ! cmp -s edited "copy/$1" || { echo "nothing to edit: $2"; exit 1; }
    cp edited "copy/$1"
}
# abi [--update]: what it says of the copy is in `said`
abi()
{
    python3 "$ROOT/tests/tools/abi.py" copy "$library" "$@" 2>said
}

# more is new in the version at hand, and the list must say so
fresh 0.0.1
edit runtime/include/tkc/tkc.h 's/^    TK_OK = 0,/&\n    TK_NEW_STATUS = 77,/'
edit meson.build "s/version: '$version'/version: '9.1.0'/"
! abi || exit 1
grep -q 'constant TK_NEW_STATUS: is new' said
abi --update
grep -qx '9.1.0 tkc.h constant TK_NEW_STATUS 77' copy/runtime/abi.txt
grep -qx "$version tkc.h constant TK_OK 0" copy/runtime/abi.txt
abi

# what was released stays, unless all numbers are raised
fresh "$version"
cp copy/runtime/abi.txt before
edit runtime/include/tkc/tkc.h 's/^    TK_MISMATCH,/    TK_RENAMED,/'
edit runtime/include/tkc/tkc.h 's/^    bool deterministic;/    int deterministic;/'
edit runtime/include/tkc/tkc.h 's/^tk_status tk_field_set(tk_field \*f, tk_plane plane, int64_t first, int64_t n/tk_status tk_field_set(tk_field *f, tk_plane plane, int64_t n, int64_t first/'
edit runtime/include/tkc/tkc.h 's/^typedef void (\*tk_task_fn)(const void/typedef void (*tk_task_fn)(void/'
! abi --update || exit 1
for what in 'constant TK_MISMATCH is gone' 'struct tk_session_options is not what it was' 'function tk_field_set is not what it was' 'callback tk_task_fn is not what it was'; do
    grep -q "tkc.h: $what" said
done
test "$(grep -c '^tkc' said)" = 4
grep -q 'raise tkc_soversion' said
edit runtime/meson.build 's/^tkc_soversion = .*/tkc_soversion = 41/'
! abi --update || exit 1
grep -q 'are raised together' said
edit runtime/include/tkc/tkc.h 's/^#define TK_INTERFACE .*/#define TK_INTERFACE 41/'
! abi --update || exit 1
grep -q 'another EMIT_INTERFACE' said
cmp copy/runtime/abi.txt before
edit compiler/emit/emit_int.h 's/EMIT_INTERFACE = [0-9]*/EMIT_INTERFACE = 41/'
abi --update
abi
# before a release it may change
fresh ''
edit runtime/include/tkc/tkc.h 's/^    bool deterministic;/    int deterministic;/'
abi --update

# headers and library have the same functions
fresh ''
edit runtime/include/tkc/tkc.h '/^int tk_session_threads(/d'
! abi || exit 1
grep -q 'libtkc.so has tk_session_threads, which no header declares' said
fresh ''
edit runtime/include/tkc/tkc.h 's/^int tk_session_threads(.*/&\nint tk_nowhere(void);/'
! abi || exit 1
grep -q 'tk_nowhere is declared, and libtkc.so has none' said
