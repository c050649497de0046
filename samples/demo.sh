#!/bin/sh
# Builds tkc, installs it below build-demo/, builds the gravity sample with it as any user would, and runs it.
set -eu
cd "$(dirname "$0")/.."
. tests/packages.sh
# shellcheck disable=SC2086
need $BUILD_PACKAGES libgif-dev libpng-dev

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
rm -rf "$build/gravity"
cp -R samples/gravity "$build/gravity"
run env PATH="$prefix/bin:$PATH" PKG_CONFIG_PATH="$prefix/lib/pkgconfig" make -C "$build/gravity" CC=clang LDFLAGS="-Wl,-rpath,$prefix/lib"

echo "running it"
cd "$build/gravity"
./gravity --check --png="$build/gravity.png" --gif="$build/gravity.gif"
