#!/bin/sh
# gallery.sh [NAME...]: runs the simulators of the gallery, or those named, at their full sizes, and makes docs/gallery.md, its pictures and docs/gallery.html of them.
# It takes an hour or two. What was measured is kept in docs/gallery/NAME.txt, so that one of them can be made anew.
set -eu
cd "$(dirname "$0")/.."
. tests/packages.sh
# shellcheck disable=SC2086
need $BUILD_PACKAGES libcairo2-dev libsdl2-dev ffmpeg python3
[ $# -gt 0 ] || set -- $(cd samples && for e in */expected; do dirname "$e"; done)
mkdir -p docs/gallery build-demo
for name; do
    out=$PWD/build-demo/$name
    echo "== $name"
    sh samples/demo.sh "$name" --threads=1 --film="$PWD/build-demo/$name.gif" | grep "^$name:" | grep -v 'film\|picture' >build-demo/said
    cat build-demo/said
    grep loss build-demo/said >"docs/gallery/$name.txt" || true
    sh samples/demo.sh "$name" --threads=1 --iterations=4 --no-picture | grep ' an episode,' >>"docs/gallery/$name.txt" # while nothing else draws
    cp "$out/$name.png" "docs/gallery/$name.png"
done
python3 samples/gallery.py
