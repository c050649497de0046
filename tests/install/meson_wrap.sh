# The wrap file of docs/c-api.md, of a repository with this tree: find_program comes before dependency, and nothing that is installed is used.
command -v git >/dev/null || { echo "no git"; exit 77; }
mkdir -p origin/docs program/subprojects
cp -R "$ROOT/meson.build" "$ROOT/meson_options.txt" "$ROOT/LICENSE" "$ROOT/compiler" "$ROOT/grammar" "$ROOT/runtime" origin
cp -R "$ROOT/docs/tkc.1" "$ROOT/docs/errors" origin/docs
(
    cd origin || exit
    export HOME="$PWD" GIT_CONFIG_NOSYSTEM=1
    git init -q . && git add . && git -c user.name=a -c user.email=a@b commit -qm tree && git tag v0.1.0
)
awk '/^<!-- wrap -->$/ { marked = 1 } marked && /^```/ { if (inside) exit; inside = 1; next } inside' "$ROOT/docs/c-api.md" >wrap
grep -q '^program_names = tkc$' wrap
sed "s|^url = .*|url = file://$PWD/origin|" wrap >program/subprojects/tkc.wrap
cp "$ROOT/tests/install/cross/main.c" "$ROOT/tests/install/cross/wave.tk" program
cat >program/meson.build <<'END'
project('program', 'c', default_options: ['c_std=c11', 'werror=true'])
kernels = generator(find_program('tkc'), output: ['@BASENAME@.c', '@BASENAME@.h'], arguments: ['--real=f64', '@INPUT@', '-o', '@OUTPUT0@'])
executable('wave', 'main.c', kernels.process('wave.tk'), dependencies: dependency('tkc'))
END
CC="$CC" meson setup build program --wrap-mode=forcefallback >log 2>&1 || { cat log; exit 1; }
ninja -j 2 -C build wave >log 2>&1 || { tail -n 40 log; exit 1; }
test -x build/subprojects/tkc*/compiler/tkc
./build/wave | grep -qx '64-bit, 560 derivatives are right'
