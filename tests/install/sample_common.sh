# What the simulators share, on billiards and on a program that draws random numbers: files, --resume, Ctrl-C, options that are wrong, curves of odd values, films.
# slow: 6
# inputs: build-files runtime samples/common samples/billiards c:samples/billiards/*.tk
cp -R "$ROOT/samples/common" "$ROOT/samples/billiards" .
cd billiards || exit
make clean
make CC="$CC" CFLAGS=-Werror >log 2>&1 || { cat log; exit 1; }
expect()
{
    want=$1 says=$2
    shift 2
    status=0
    ./billiards "$@" >out 2>message || status=$?
    test $status = "$want" && { test -z "$says" || grep -q -- "$says" message; } && return
    echo "$*: status $status, expected $want and '$says'"
    cat message
    exit 1
}
run="--iterations=20 --steps=1000 --threads=1"

# all at once, and in two runs: the same bits
expect 0 '' $run --out=one
expect 0 '' $run --out=two/and/more --iterations=10
expect 0 '' $run --out=two/and/more --resume
cmp one/billiards.state two/and/more/billiards.state
cmp one/billiards.csv two/and/more/billiards.csv
test "$(wc -l <one/billiards.csv)" = 22
expect 0 '' $run --out=one --resume # nothing is left to do
cmp one/billiards.state two/and/more/billiards.state
expect 0 '' $run --threads=2 --out=three/

# states that do not fit leave what is there
expect 1 'one/billiards.state: a state of other sizes' $run --steps=50 --resume --out=one
expect 1 'one/billiards.state: has more iterations behind it' $run --iterations=19 --resume --out=one
expect 1 'No such file' $run --resume --out=four
for broken in 'head -c 20' 'head -c 100' 'tail -c +9' 'sed s/./x/' 'cat - Makefile' 'head -c 0'; do
    $broken <one/billiards.state >four/billiards.state
    expect 1 'four/billiards.state: \(no state of a sample\|a state of other sizes\|a state that is broken\)' $run --resume --out=four
done

# Ctrl-C behind eleven iterations, of which a terminal is told: what was done is kept
python3 - <<'END'
import os, re, signal, subprocess
terminal, its = os.openpty()
p = subprocess.Popen(["./billiards", "--steps=100", "--iterations=1000000", "--out=five"], stdout=subprocess.DEVNULL, stderr=its)
os.close(its)
said, sent = b"", False
try:
    while text := os.read(terminal, 4096):
        said = said[-200:] + text
        if not sent and re.search(rb"\] (1[1-9]|[2-9]\d|\d{3,}) of 1000000, loss ", said):
            p.send_signal(signal.SIGINT)
            sent = True
except OSError:
    pass                                    # a terminal that nobody else has open
assert p.wait() == 130 and sent, (p.returncode, sent, said)
END
done=$(($(wc -l <five/billiards.csv) - 2))
test $done -gt 10
test -s five/billiards.png
expect 0 '' --steps=100 --iterations=$((done + 5)) --resume --out=five
test "$(wc -l <five/billiards.csv)" = $((done + 7))

# folders, and options
expect 1 '/proc/none: ' $run --out=/proc/none
expect 1 ': billiards.tk: ' $run --out=billiards.tk
expect 1 'billiards.tk/x: ' $run --out=billiards.tk/x
expect 0 '' $run --out=billiards.tk/x --no-picture
for wrong in --size=2 --steps=0 --steps=x --rate=nan --rate=-1 --threads=-1 --threads=2000 --iterations=-1 --iterations=99999999999 --window-frames=-1 --none more --size; do
    expect 2 "^billiards: .*$(echo "$wrong" | sed 's/=.*//')" $wrong
done
expect 0 '' --steps=1 --iterations=0 --out=six
expect 1 'the least loss is more' $run --expect=1e-9
expect 0 '' $run --expect=1
expect 0 '' --steps=1000 --check
grep -Eq '^billiards: loss [.0-9e-]+, along a direction [.0-9e-]+ by the tape, [.0-9e-]+ by differences$' out

# films
status=0
PATH=/nonexistent ./billiards $run --film=x.gif >out 2>message || status=$?
test $status = 1
grep -q 'films need ffmpeg' message
if command -v ffmpeg >/dev/null; then
    expect 0 '' $run --film="it's \$HOME; a film.gif"
    test "$(head -c 6 "it's \$HOME; a film.gif")" = GIF89a
    expect 1 'ffmpeg failed' $run --film=none/x.gif
fi

# random numbers of kernels: of the iteration, whatever ran before; and a method with moments
mkdir ../noise
cd ../noise || exit
cat >Makefile <<'END'
NAME = noise
include ../common/sample.mk
END
cat >noise.tk <<'END'
field p: vec2[3] needs_grad;
field loss: real needs_grad;
kernel run() {
    for i in p { loss += (p[i] - vec2(random(), random())).norm_sqr(); }
}
END
cat >main.c <<'END'
#include "noise.h"
#include "sample.h"

static noise *m;

static bool create(sample *s)
{
    m = noise_create(s->session, NULL);
    return m;
}

static double run(sample *s)
{
    (void)s;
    TK_TAPE(m, m->loss) noise_run(m);
    return (double)m->loss.data[0];
}

static void draw(sample *s, cairo_t *c, int step)
{
    (void)s, (void)step;
    for (int i = 0; i < 3; i++)
        draw_disc(c, (double)m->p.data[i][0], (double)m->p.data[i][1], 0.1);
}

static void destroy(sample *s)
{
    (void)s;
    noise_destroy(m);
}

int main(int argc, char **argv)
{
    static const char *const parameters[] = {"p", NULL};
    sample s = {.name = "noise", .iterations = 20, .rate = 0.1, .threads = 1, .parameters = parameters, .method = ADAM, .clip = 1.0,
                .create = create, .run = run, .draw = draw, .destroy = destroy};
    return sample_main(&s, argc, argv);
}
END
make CC="$CC" CFLAGS=-Werror REAL=f64 >log 2>&1 || { cat log; exit 1; }
./noise-f64 --seed=3 --out=one >/dev/null
./noise-f64 --seed=3 --out=two --iterations=7 >/dev/null
./noise-f64 --seed=3 --out=two --resume >/dev/null
cmp one/noise.state two/noise.state
test "$(sort -u -t, -k2 one/noise.csv | wc -l)" = 22
status=0
./noise-f64 --rate=1e200 --out=one 2>message || status=$?
test $status = 1
grep -q 'loss: inf after 1 iterations' message
cmp one/noise.state two/noise.state
./noise-f64 --check | awk '{ d = $7 - $11; exit !($7 != 0 && d * d < 1e-12) }'

# curves: none of these may hang, or read what is not there
cat >curves.c <<'END'
#include <math.h>
#include "sample.h"

bool sample_fails(const sample *s, const char *what, const char *why)
{
    (void)s, (void)what, (void)why;
    return false;
}

int main(void)
{
    static const double all[][4] = {{0, 0, 0, 0}, {-3, -3, -3, -3}, {1234567.25, 1234567.5, 1234567.25, 1234568}, {1e-15, 1e-15, 1e-15, 1e-15},
        {1e308, -1e308, 1, 0}, {1e-320, 1e300, 1, 2}, {1e-299, 1e299, 1, 2}, {NAN, INFINITY, -INFINITY, NAN}, {NAN, 1, NAN, 2}, {1, 1e12, 3, 4},
        {-1e12, 1e12, 3, 4}, {1, 1.0000001, 1, 1}, {-5, 3, 2, -1}, {.5, .25, .3, .1}};
    cairo_surface_t *to = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1000, 1000);
    cairo_t *c = cairo_create(to);
    cairo_set_source_rgb(c, 1, 1, 1);
    cairo_paint(c);
    for (int k = 0; k < 14; k++) {
        cairo_save(c);
        cairo_translate(c, k % 3 * 330, k / 3 * 200);
        plot(c, 330, 190, all[k], k == 12 ? 1 : 4, "the sum of the squares of all that is left, over all of the time and all of the particles");
        cairo_restore(c);
    }
    plot(c, 300, 100, NULL, 0, "");
    plot(c, 1, 1, all[0], 4, "");
    static double many[1000001];
    for (int k = 0; k < 1000001; k++)
        many[k] = sin(k * 1e-5);
    cairo_translate(c, 660, 800);
    plot(c, 330, 190, many, 1000001, "many");
    const bool ok = cairo_status(c) == CAIRO_STATUS_SUCCESS;
    cairo_destroy(c);
    return !ok || cairo_surface_write_to_png(to, "curves.png") != CAIRO_STATUS_SUCCESS;
}
END
# shellcheck disable=SC2046
"$CC" -std=c11 -D_GNU_SOURCE -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -I../common $(pkg-config --cflags tkc cairo popt) curves.c ../common/picture.c \
    ../common/draw.c $(pkg-config --libs tkc cairo) -lm -o curves
(ulimit -S -t 60; ASAN_OPTIONS=detect_leaks=0 exec ./curves)
