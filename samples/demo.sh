#!/bin/sh
# demo.sh [NAME [OPTIONS...]]: builds tkc, installs it below build-demo/, builds a sample with it as any user would, and runs it: gravity, or samples/NAME.
set -eu
cd "$(dirname "$0")/.."
. tests/packages.sh
name=${1-gravity}
[ $# -eq 0 ] || shift
[ -f "samples/$name/Makefile" ] || {
    echo "there is no sample '$name'; there are $(for m in samples/*/Makefile; do basename "$(dirname "$m")"; done | tr '\n' ' ')" >&2
    exit 2
}
case $name in
gravity) packages='libgif-dev libpng-dev' ;;
jelly) packages=libcairo2-dev ;;
fit) packages='libcairo2-dev liblapacke-dev' ;;
lapack) packages=liblapacke-dev ;;
newton) packages='libcairo2-dev libsuitesparse-dev' ;;
bundle) packages='libcairo2-dev liblapacke-dev' ;;
quadrotor) packages='libcairo2-dev coinor-libipopt-dev' ;;
pendulum) packages='libcairo2-dev libgif-dev coinor-libipopt-dev' ;;
*) packages='libcairo2-dev libsdl2-dev' ;;
esac
# shellcheck disable=SC2086
need $BUILD_PACKAGES $packages

build=$PWD/build-demo
prefix=$build/usr
log=$build/log

mkdir -p "$build"
run()
{
    "$@" >"$log" 2>&1 || { cat "$log"; exit 1; }
}

echo "building tkc"
[ -f "$build/tkc/build.ninja" ] || run env CC=clang meson setup "$build/tkc" --prefix="$prefix" --libdir=lib -Dtests=false
run ninja -C "$build/tkc"
run meson install -C "$build/tkc" --no-rebuild

echo "building the sample"
rm -rf "$build/samples"
mkdir "$build/samples"
for folder in samples/*/; do # samples import each other's files
    cp -R "$folder" "$build/samples/"
done
run env PATH="$prefix/bin:$PATH" PKG_CONFIG_PATH="$prefix/lib/pkgconfig" make -C "$build/samples/$name" CC=clang LDFLAGS="-Wl,-rpath,$prefix/lib"

echo "running it"
cd "$build/samples/$name"
case $name in
gravity)
    ./gravity --check --png="$build/gravity.png" --gif="$build/gravity.gif" "$@"
    echo "more: docs/gallery.md, and sh samples/demo.sh NAME"
    ;;
bundle | fit | jelly | lapack | newton | pendulum | quadrotor) "./$name" "$@" ;;
*) "./$name" --out="$build/$name" "$@" ;;
esac
