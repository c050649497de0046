#!/bin/sh
# deb.sh OUT: builds the packages tkc, libtkc0 and libtkc-dev of Debian from this tree, in the empty or new folder OUT; they and OUT/tkc-VERSION, the tree that
# they are built from, stay there. Packages that it takes: dpkg-dev fakeroot debhelper, and what debian/control names. DEB_BUILD_OPTIONS=nocheck leaves the
# unit tests out. DEBFULLNAME and DEBEMAIL name the maintainer. A failure leaves no file and no new folder.
set -eu
[ $# = 1 ] || { echo "usage: deb.sh OUT" >&2; exit 2; }
new= above=$1
until [ -e "$above" ] || [ -L "$above" ]; do
    new=$above above=$(dirname -- "$above")
done
case $new in '' | /*) ;; *) new=$PWD/$new ;; esac # the outermost folder that mkdir makes
out=
clean()
{
    [ -z "$out" ] || find "$out" -mindepth 1 -delete
    [ -z "$new" ] || rm -rf -- "$new"
}
trap '[ $? = 0 ] || clean' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
mkdir -p -- "$1"
folder=$(cd -- "$1" && pwd)
[ -z "$(ls -A "$folder")" ] || { echo "deb.sh: $folder is not empty" >&2; exit 2; }
out=$folder
cd "$(dirname "$0")/../.."
version=$(sed -n "s/^project(.*version: '\([0-9.]*\)'.*/\1/p" meson.build)
tree="$out/tkc-$version"
mkdir "$tree"
# What belongs to the project: what git knows, or all of an unpacked archive but its build folders.
if git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files -z >"$out/files"
    tar --null --files-from="$out/files" --create --file="$out/files.tar"
    when=$(git log -1 --format=%ct)
else
    tar --exclude='./build*' --exclude=__pycache__ --exclude="./${out#"$PWD"/}" --create --file="$out/files.tar" .
    when=$(stat -c %Y meson.build)
fi
tar -x -C "$tree" -f "$out/files.tar"
rm -f "$out/files" "$out/files.tar"
when=${SOURCE_DATE_EPOCH-$when}
# A version that is not released yet is older than the one that will be.
package=$version
if grep -q "^## $version, not released" docs/changelog.md; then
    package="$version~$(date -u -d "@$when" +%Y%m%d%H%M)"
fi
tar --sort=name --owner=0 --group=0 --mtime="@$when" -C "$out" -czf "$out/tkc_$package.orig.tar.gz" "tkc-$version"

cp -r "$tree/runtime/packaging/debian" "$tree/debian"
maintainer="${DEBFULLNAME-the maintainers of tkc} <${DEBEMAIL-tkc@localhost.localdomain}>"
sed -i "s/@MAINTAINER@/$maintainer/" "$tree/debian/control"
# The licence stands in LICENSE, the symbols in runtime/abi.txt, the version in meson.build.
{ sed '/^@LICENSE@$/d' runtime/packaging/debian/copyright; sed -e '1,/^Copyright/d' LICENSE | sed -e 1d -e 's/^$/./' -e 's/^/ /'; } >"$tree/debian/copyright"
soversion=$(awk '$1 == "soversion" { print $2 }' runtime/abi.txt)
grep -qx "Package: libtkc$soversion" "$tree/debian/control" || { echo "deb.sh: the library is libtkc.so.$soversion, and debian/control has no package libtkc$soversion" >&2; exit 1; }
{
    echo "libtkc.so.$soversion libtkc$soversion #MINVER#"
    echo '* Build-Depends-Package: libtkc-dev'
    awk '$3 == "function" { print " " $4 "@Base " $1 "~" }' runtime/abi.txt
} >"$tree/debian/libtkc$soversion.symbols"
cat >"$tree/debian/changelog" <<END
tkc ($package-1) unstable; urgency=medium

  * Version $version: the release notes are docs/changelog.md.

 -- $maintainer  $(date -u -R -d "@$when")
END
cd "$tree"
dpkg-buildpackage -us -uc -b
