# The window of the samples, on a virtual screen: its picture, keys, the mouse on sliders and the target.
# slow: 17
# inputs: build-files runtime samples/common tests/tools/mouse.py samples/billiards c:samples/billiards/*.tk
for program in Xvfb python3; do
    command -v $program >/dev/null || { echo "no $program"; exit 77; }
done
pkg-config --exists sdl2 || { echo "no SDL2"; exit 77; }
python3 -c 'import ctypes; ctypes.CDLL("libXtst.so.6")' 2>/dev/null || { echo "no libXtst"; exit 77; }
cp -R "$ROOT/samples/common" "$ROOT/samples/billiards" .
cd billiards || exit
make clean >/dev/null
make CC="$CC" CFLAGS=-Werror >log 2>&1 || { cat log; exit 1; }

status=0
DISPLAY=none: ./billiards --window --no-picture >out 2>message || status=$?
test $status = 1
grep -q '^billiards: --window: ' message

# one knob more than there is room for: fifteen beside the slider of time are shown, sixteen refused
knobs()
{
    mkdir -p "../$1"
    cp Makefile billiards.tk ../"$1"
    { sed '/int main(/,$d' main.c
      printf 'static double knob;\nstatic const sample_knob knobs[] = {\n'
      for k in $(seq "$1"); do printf '    {"k%s", &knob, 0.0, 1.0},\n' "$k"; done
      printf '    {0}};\n'
      sed -n '/int main(/,$p' main.c | sed 's/^\( *\)\.steps = /\1.knobs = knobs, .steps = /'
    } >../"$1"/main.c
    (cd "../$1" && make CC="$CC" CFLAGS=-Werror) >log 2>&1 || { cat log; exit 1; }
    (cd "../$1" && ./billiards --window --window-frames=2 --iterations=1 --steps=20)
}
knobs 15 >out
status=0
knobs 16 >out 2>message || status=$?
test $status = 1
grep -q 'more knobs than sliders' message

mkfifo display
Xvfb -displayfd 1 -nolisten tcp -screen 0 1024x900x24 >display 2>xvfb &
server=$!
trap 'kill $server' EXIT
read -r number <display || { echo "Xvfb ends before it has a display"; cat xvfb; exit 1; }
DISPLAY=:$number
export DISPLAY SDL_MOUSE_FOCUS_CLICKTHROUGH=1

# 30 frames, and the last as a picture: of the right size, with the colours of a ball, of the curve and of a button
./billiards --window --window-frames=30 --out=shot >out
python3 - <<'END'
import struct, zlib
data = open("shot/billiards-window.png", "rb").read()
chunks, at = {}, 8
while at < len(data):
    n, kind = struct.unpack(">I4s", data[at:at + 8])
    chunks[kind] = chunks.get(kind, b"") + data[at + 8:at + 8 + n]
    at += 12 + n
w, h, depth, kind = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
assert (w, h, depth, kind) == (760, 560 + 8 + 180 + 28, 8, 2), (w, h, depth, kind)
raw, rows, last = zlib.decompress(chunks[b"IDAT"]), [], bytes(3 * w)
for y in range(h):
    how, row = raw[y * (3 * w + 1)], bytearray(raw[y * (3 * w + 1) + 1:(y + 1) * (3 * w + 1)])
    for x in range(3 * w):
        left, up, corner = row[x - 3] if x > 2 else 0, last[x], last[x - 3] if x > 2 else 0
        p = left + up - corner
        paeth = min((abs(p - left), 0, left), (abs(p - up), 1, up), (abs(p - corner), 2, corner))[2]
        row[x] = row[x] + (0, left, up, (left + up) // 2, paeth)[how] & 255
    rows.append(row)
    last = row
def count(colour, top, bottom):
    return sum(all(abs(row[x + k] - colour[k]) < 2 for k in range(3)) for row in rows[top:bottom] for x in range(0, 3 * w, 3))
red, blue, white = (204, 46, 84), (26, 92, 179), (255, 255, 255)
assert count(red, 0, 560) > 500, "no ball"
assert count(blue, 568, 600) > 1000, "no button"
assert count(white, 568, h) > 100000, "no panel"
assert rows[5][300:303] == bytearray((250, 249, 245)), "no paper"
END

# shellcheck disable=SC2046
"$CC" -O1 -Wall -Wextra -Werror -shared -fPIC "$ROOT/tests/tools/frames.c" -o frames.so $(pkg-config --cflags --libs sdl2)

# play ITERATIONS WORD...: the program has made so many when the words have come; sets $loss
play()
{
    wanted=$1
    shift
    python3 "$ROOT/tests/tools/mouse.py" ./frames.so "$@" -- ./billiards --window --no-picture >out || { echo "$*: status $?"; exit 1; }
    made=$(awk '/ before, / { print $(NF - 4) }' out)
    test "$made" = "$wanted" || { echo "$*: $made iterations, not $wanted"; cat out; exit 1; }
    loss=$(awk '/ before, / { print $3 }' out)
}
fast="Up Up Up Up Up Up Up Up Up"               # two frames an iteration
play 0 q
first=$loss
play 5 $fast frames 10 q
play 0 frames 130 q                             # an episode plays for 132 frames
play 1 frames 135 q
play 0 space $fast frames 10 q                  # paused
play 0 o $fast frames 10 Escape                 # plays, and does not optimise
test "$loss" = "$first"
play 0 o down 604 140 to 604 300 up frames 1 q  # the target elsewhere: another loss
test "$loss" != "$first"
play 3 down 604 140 to 604 160 frames 1 to 604 180 frames 2 to 604 200 up q # held, it is followed
play 0 $fast frames 10 o r frames 10 q          # from the beginning
test "$loss" = "$first"
play 0 down 140 610 to 300 610 up $fast frames 10 q # the slider of time stops it
play 0 down 60 582 up $fast frames 10 q         # and so does the button
play 0 Right Left g $fast frames 10 q

# Ctrl-C in a window keeps what was done
status=0
python3 "$ROOT/tests/tools/mouse.py" ./frames.so $fast frames 10 interrupt -- ./billiards --window --out=kept >out || status=$?
test $status = 130
test -s kept/billiards.state
test "$(wc -l <kept/billiards.csv)" = 7
