# The wrap file of docs/c-api/builds.md, of a repository with this tree: find_program comes before dependency, and nothing that is installed is used. What is built is planned,
# and its generated sources are made; meson_subproject compiles the same.
# inputs: build-files runtime README.md docs
command -v git >/dev/null || { echo "no git"; exit 77; }
mkdir -p origin/docs program/subprojects
cp -R "$ROOT/meson.build" "$ROOT/meson_options.txt" "$ROOT/LICENSE" "$ROOT/compiler" "$ROOT/grammar" "$ROOT/runtime" origin
cp -R "$ROOT/docs/tkc.1" "$ROOT/docs/errors" origin/docs
(
    cd origin || exit
    export HOME="$PWD" GIT_CONFIG_NOSYSTEM=1
    git init -q . && git add . && git -c user.name=a -c user.email=a@b commit -qm tree && git tag v0.1.0
)
awk '/^<!-- wrap -->$/ { marked = 1 } marked && /^```/ { if (inside) exit; inside = 1; next } inside' "$ROOT/docs/c-api/builds.md" >wrap
grep -q '^program_names = tkc$' wrap
sed "s|^url = .*|url = file://$PWD/origin|" wrap >program/subprojects/tkc.wrap
cp "$ROOT/tests/install/cross/main.c" "$ROOT/tests/install/cross/wave.tk" program
cat >program/meson.build <<'END'
project('program', 'c', default_options: ['c_std=c11', 'werror=true'])
kernels = generator(find_program('tkc'), output: ['@BASENAME@.c', '@BASENAME@.h'], arguments: ['--real=f64', '@INPUT@', '-o', '@OUTPUT0@'])
executable('wave', 'main.c', kernels.process('wave.tk'), dependencies: dependency('tkc'))
END
CC="$CC" meson setup build program --wrap-mode=forcefallback >log 2>&1 || { cat log; exit 1; }
ninja -n -C build wave >log 2>&1 || { tail -n 40 log; exit 1; } # a source that the repository lacks is an error here
grep -q 'Linking target subprojects/tkc[^ ]*/compiler/tkc$' log
ninja -C build -t commands wave >commands
grep -q '^[^ ]*subprojects/tkc[^ ]*/compiler/tkc --real=f64 .*wave.tk' commands
! grep -qF "$PREFIX" commands || exit 1
for flag in $(head -n 1 "$ROOT/runtime/flags.txt"); do
    grep -qe " $flag .* wave\.p/main\.c\.o " commands
done
# shellcheck disable=SC2046
ninja -C build $(ninja -C build -t targets all | sed -n 's/: CUSTOM_COMMAND.*//p' | grep '/tkc[^ ]*/.*\.[chly]$' | grep -v 'wave') >log 2>&1 || { tail -n 40 log; exit 1; }
