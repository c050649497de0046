# Packages of Debian: built from a clean copy, looked at by lintian, installed in a system that has nothing else, tried there, and removed without a trace.
# slow: 64
# inputs: build-files runtime docs README.md LICENSE samples/gravity
# copies: tests samples .ci
for tool in dpkg-buildpackage dh fakeroot lintian mmdebstrap; do
    command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "only root can enter another system (chroot)"; exit 77; }
DEB_CFLAGS_MAINT_APPEND=-O1 DEB_BUILD_OPTIONS='nocheck parallel=2' sh "$ROOT/runtime/packaging/deb.sh" out >log 2>&1 || { tail -n 60 log; exit 1; }

# What lintian has to say beside this: nobody maintains the packages in Debian, and it takes three bytes of machine code for a word.
lintian --no-cfg --fail-on error,warning,info --display-info --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs,spelling-error-in-binary \
    out/*.changes 2>&1 | grep -v 'running with root' >said || true
test ! -s said || { cat said; exit 1; }
# The symbols of the library are in the package, with the version that they are there since.
dpkg-deb --ctrl-tarfile out/libtkc0_*.deb | tar -xO ./symbols | grep -qx ' tk_session_create@Base 0.1.0~'
# A copy of the tree that was not built in, and a folder with something in it.
! sh "$ROOT/runtime/packaging/deb.sh" out >said 2>&1 || exit 1
grep -q 'is not empty' said

# A system with a C compiler, kept beside the build for the next time: it comes from the network.
name=$(. /etc/os-release && echo "$VERSION_CODENAME")
kept=$(dirname "$TKC")/../debian-$name.tar
if [ ! -s "$kept" ]; then
    mmdebstrap --variant=apt --include=gcc,libc6-dev,pkg-config,libpopt0 "$name" "$PWD/new.tar" >log 2>&1 || { echo "mmdebstrap does not run here: $(tail -n 1 log)"; exit 77; }
    mv new.tar "$kept"
fi
mkdir root
tar --exclude='./dev/*' -C root -xf "$kept"
mknod -m 666 root/dev/null c 1 3 && chroot root sh -c ': >/dev/null' || { echo "no chroot with devices here"; exit 77; }
inside()
{
    chroot root env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"
}
must()
{
    inside "$@" >log 2>&1 || { echo "in the clean system, $*:"; cat log; exit 1; }
}
mkdir root/packages
cp out/tkc_*.deb out/libtkc0_*.deb out/libtkc-dev_*.deb "$ROOT/runtime/packaging/debian/tests/smoke" root/packages
must sh -c 'apt-get install -y --no-install-recommends /packages/*.deb'
must env KEEP=/packages/host sh /packages/smoke
must sh -c 'cd /usr/share/doc/tkc/samples && tkc gravity/gravity.tk -o /packages/gravity.c && tkc wave/wave.tk -o /packages/wave.c'
(cd root/usr/share/doc/tkc/samples && find . -type f | LC_ALL=C sort) >installed
python3 "$ROOT/runtime/packaging/samples.py" "$ROOT/samples" | sed 's|^|./|' | LC_ALL=C sort | cmp - installed
# The program needs the library alone, and says so when that is gone.
must apt-get purge -y tkc libtkc-dev
must /packages/host
must apt-get purge -y libtkc0
! inside /packages/host >log 2>&1 || exit 1
grep -q 'libtkc.so.0' log
inside find /usr /etc /var/lib /opt -name '*tkc*' >left
test ! -s left || { cat left; exit 1; }
