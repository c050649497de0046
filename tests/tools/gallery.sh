#!/bin/sh
# gallery.sh SAMPLE...: the lines of samples/SAMPLE/expected, which say what a simulator gives at a reduced size:
#     check: ARGS : LOSS ALONG    in f64: the loss of the first episode, and its derivative along a direction by the tape; differences agree
#     run: ARGS : LOSS            in f32: the least loss is at most that
# Lines `reference:` are for full sizes, by hand: GALLERY_FULL=1. Needs ROOT, TKC, CC and an installed libtkc (PKG_CONFIG_PATH). What all samples share is compiled once.
set -eu
flags="-std=c11 -D_GNU_SOURCE $(pkg-config --cflags tkc popt cairo)"
libs="$(pkg-config --libs tkc popt cairo) -lm"
work=$PWD/gallery
mkdir -p "$work"
for f in "$ROOT"/samples/common/*.c; do
    [ "$f" != "$ROOT/samples/common/window.c" ] || continue # it needs SDL2
    # shellcheck disable=SC2086
    "$CC" $flags -O3 -c "$f" -o "$work/$(basename "$f" .c).common.o"
done

build() # NAME REAL
{
    dir=$work/$1-$2
    mkdir -p "$dir"
    [ "$2" = f32 ] && level=-O3 || level=-O1 # users' flags for what they run; optimising takes most of the time
    "$TKC" --real="$2" "$ROOT/samples/$1/$1.tk" -o "$dir/$1.c"
    for f in "$dir/$1.c" "$ROOT/samples/$1"/*.c; do
        # shellcheck disable=SC2086
        "$CC" $flags $level -I"$dir" -I"$ROOT/samples/common" -c "$f" -o "$dir/$(basename "$(dirname "$f")")-$(basename "$f" .c).o"
    done
    # shellcheck disable=SC2086
    "$CC" -o "$dir/$1" "$dir"/*.o "$work"/*.common.o $libs
}

status=0
for name; do
    build "$name" f32
    build "$name" f64
    lines=0
    while IFS=: read -r what args wanted; do
        case $what in
        check)
            # shellcheck disable=SC2086
            "$work/$name-f64/$name" --check --threads=1 $args >"$work/said" || { echo "$name --check$args: status $?"; cat "$work/said"; status=1; continue; }
            # The last line: NAME: loss L, along a direction A by the tape, D by differences
            tail -n 1 "$work/said" | tr -d , | awk -v wanted="$wanted" -v what="$name --check$args" '
                function near(a, b, by,   gap, size) { gap = a < b ? b - a : a - b; size = b < 0 ? -b : b; return gap <= by * (size + 1e-9) }
                { split(wanted, w, " "); for (i = 1; i <= NF; i++) { if ($i == "loss") l = $(i + 1); if ($i == "direction") { a = $(i + 1); d = $(i + 5) } } }
                END { if (!near(l, w[1], 1e-7) || !near(a, w[2], 1e-6) || !near(a, d, 1e-4)) { print what ": " $0 ", expected" wanted; exit 1 } }' || status=1
            ;;
        run)
            # shellcheck disable=SC2086
            "$work/$name-f32/$name" --no-picture --threads=1 --expect="${wanted# }" $args >"$work/said" 2>&1 || { echo "$name$args"; cat "$work/said"; status=1; }
            ;;
        reference)
            [ -z "${GALLERY_FULL-}" ] || {
                # shellcheck disable=SC2086
                "$work/$name-f32/$name" --no-picture --expect="${wanted# }" $args || status=1
            }
            ;;
        *) echo "$name: expected says '$what'"; status=1 ;;
        esac
        lines=$((lines + 1))
    done <"$ROOT/samples/$name/expected"
    [ "$lines" -ge 3 ] || { echo "$name: expected has $lines lines"; status=1; }
done
exit $status
