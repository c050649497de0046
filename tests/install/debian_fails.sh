# deb.sh leaves nothing behind: after a tool that fails, a signal, and a folder that cannot be made or has files.
# slow: 2
# inputs: runtime/packaging runtime/abi.txt docs/changelog.md LICENSE meson.build samples/gravity/gravity.tk
mkdir tree tools
(cd "$ROOT" && tar -c runtime/packaging runtime/abi.txt docs/changelog.md LICENSE meson.build samples/gravity/gravity.tk) | tar -x -C tree
deb=$PWD/tree/runtime/packaging/deb.sh
export PATH="$PWD/tools:$PATH" GIT_CEILING_DIRECTORIES="$PWD"
# failing STATUS OUT: deb.sh ends with this status
failing()
{
    status=0
    sh "$deb" "$2" >said 2>&1 || status=$?
    [ $status = "$1" ] || { echo "$2: status $status, and not $1"; cat said; exit 1; }
}
# tool NAME LINES: in place of the tool
tool()
{
    printf '#!/bin/sh\n%s\n' "$2" >"tools/$1"
    chmod +x "tools/$1"
}
tool dpkg-buildpackage 'test -s debian/changelog || exit 3; : >../tkc_0.deb; echo "cannot build"; exit 7'
failing 7 out
grep -q 'cannot build' said
test ! -e out
failing 7 one/two/three
test ! -e one
mkdir one
failing 7 one/two/three
test -d one
test -z "$(ls -A one)"
failing 7 one
test -z "$(ls -A one)"
tool dpkg-buildpackage 'kill -TERM $PPID'
failing 143 out
test ! -e out
tool dpkg-buildpackage ':'
for tool in tar awk cp; do
    tool $tool 'exit 1'
    failing 1 out
    test ! -e out
    rm "tools/$tool"
done
: >one/kept
failing 2 one
grep -q 'is not empty' said
test "$(ls -A one)" = kept
: >file
for wrong in file file/out /proc/none/out; do
    ! sh "$deb" "$wrong" >said 2>&1 || exit 1
    test -f file
done
ln -s nowhere link
! sh "$deb" link >said 2>&1 || exit 1
test -L link
# the packages, and the tree that they are made of, stay; a folder inside of the tree is no part of it
failing 0 tree/out
test -s tree/out/tkc-*/debian/changelog
test -s tree/out/tkc-*/samples/gravity/gravity.tk
test ! -e tree/out/files.tar
test ! -e "$(echo tree/out/tkc-*)/out"
rm -r tree/out
# of a checkout, what git has: a file of it that is gone is an error
command -v git >/dev/null || exit 0
git init -q tree
: >tree/loose
git -C tree add LICENSE docs meson.build runtime samples
git -C tree -c user.name=a -c user.email=b commit -q -m 'test: Begin'
failing 0 out
test ! -e "$(echo out/tkc-*)/loose"
rm -r out tree/samples
failing 2 out
test ! -e out
