# TKC_PROFILE and tk_session_profile: counts, times, memory and the trace are those of what ran.
runtime=$(dirname "$TKC")/../runtime
cat >sim.tk <<'T'
field x: real[100, 1000] needs_grad;
field y: real needs_grad;
kernel step(t: i32) { for i in range(1000) { x[t + 1, i] = sin(x[t, i]); } }
kernel total() { for i in range(1000) { y += x[99, i] * x[99, i]; } }
field z: real[1000] needs_grad saved;
kernel turn() { for i in z { z[i] = sin(z[i]); } }
kernel idle() derive() { for i in range(10) { x[0, i] = 0.5; } }
T
cat >host.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sim.h"
/* The leak sanitizer cannot trace a process with another user's rights. */
int __lsan_is_turned_off(void) { return geteuid() != getuid(); }
static int turns;
static void run(sim *m, int steps)
{
    sim_idle(m);
    TK_TAPE(m, m->y) {
        for (int t = 0; t < steps; t++) sim_step(m, t);
        for (int t = 0; t < turns; t++) sim_turn(m);
        sim_total(m);
    }
}
int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "who")) return printf("%d\n", (int)geteuid()) < 0;
    tk_session_options o = tk_session_defaults();
    o.threads = 2;
    tk_session *s = tk_session_create(&o);
    sim *m = sim_create(s, NULL);
    if (!m) return 1;
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "api")) {
        run(m, 99); /* not measured */
        if (tk_session_profile_write(s, "-", NULL) != TK_BAD_STATE) return 2;
        tk_session_clear_error(s);
        tk_session_profile(s, true);
        tk_session_profile(s, true);
        run(m, 99);
        tk_session_profile(s, false);
        run(m, 99); /* not measured */
        tk_session_profile(s, true);
        sim_idle(m);
        sim_destroy(m);
        if (tk_session_profile_write(s, "table", "trace.json") != TK_OK) return 3;
        if (tk_session_profile_write(s, "nowhere/table", NULL) != TK_BAD_ARGUMENT) return 4;
        fprintf(stderr, "%s\n", tk_session_error(s));
        if (tk_session_profile(NULL, true) != TK_BAD_ARGUMENT || tk_session_profile_write(NULL, NULL, NULL) != TK_BAD_ARGUMENT) return 5;
        tk_session_destroy(s);
        return 0;
    }
    if (!strcmp(what, "budget")) tk_tape_budget(s, 1200 * (size_t)(turns = 100));
    run(m, 99);
    const int bad = tk_session_status(s) != TK_OK;
    sim_destroy(m);
    tk_session_destroy(s);
    if (!strcmp(what, "two")) {
        m = sim_create(NULL, NULL);
        sim_idle(m);
        sim_destroy(m);
    }
    return bad;
}
C
"$TKC" sim.tk
# shellcheck disable=SC2086
$CC -std=c11 -O1 -fopenmp-simd $SANITIZE -I. -I"$INCLUDE" host.c sim.c "$runtime/libtkc.a" -pthread -lm -o host

./host 2>err
test ! -s err
TKC_PROFILE=0 ./host 2>err
test ! -s err
# a program that runs with the rights of somebody else
if [ "$(id -u)" = 0 ] && cp host secure && chown 65534 secure && chmod 4755 secure && [ "$(./secure who)" = 65534 ]; then
    TKC_PROFILE=$PWD/secure.json ./secure 2>err
    test ! -s err
    test ! -e secure.json
    chmod 755 secure
    TKC_PROFILE=1 ./secure 2>err
    test -s err
fi
TKC_PROFILE=1 ./host 2>err
python3 - err <<'P'
import sys
lines = open(sys.argv[1]).read().splitlines()
assert lines[0].startswith("tkc: ") and lines[0].endswith("up to 2 threads"), lines[0]
rows = {tuple(l.split()[:2]): l.split()[2:] for l in lines[2:]}
counts = {k: int(v[0]) for k, v in rows.items()}
assert counts == {("sim.step", "launch"): 99, ("sim.step", "grad"): 99, ("sim.total", "launch"): 1, ("sim.total", "grad"): 1, ("sim.idle", "launch"): 1}, counts
totals = [float(v[1]) for v in rows.values()]
assert totals == sorted(totals, reverse=True) and totals[0] > 0
assert abs(sum(float(v[2]) for v in rows.values()) - 100) < 0.5
for v in rows.values():
    assert float(v[3]) <= float(v[4]) + 0.001 and abs(float(v[1]) * 1000 - int(v[0]) * float(v[3])) < 0.6 + 0.001 * int(v[0])
fields = 2 * 101 * 1000 * 4 / 1e6 # data and gradients
assert fields < float(rows["sim.step", "grad"][5]) < 2 * fields
P

! grep -q "last tape" err
TKC_PROFILE=1 ./host budget 2>err
grep -q "^last tape: 200 launches, [1-9][0-9]* again ([1-9][0-9]* planned); [1-9][0-9]* slots, [1-9][0-9]* images, 0\.[01][0-9]* of 0\.120 MB; closed in " err

TKC_PROFILE=$PWD/a.b/t.json ./host two 2>err
grep -q "cannot be written to '$PWD/a.b/t.json'" err
mkdir a.b
TKC_PROFILE=$PWD/a.b/t.json ./host two 2>err
TKC_PROFILE=$PWD/a.b/t ./host two 2>err
test "$(echo a.b/*)" = "a.b/t a.b/t-2 a.b/t-2.json a.b/t.json"
./host api 2>err
grep -q "the profile cannot be written to 'nowhere/table': No such file" err
grep -q "sim.idle  *launch  *2 " table
python3 - <<'P'
import json
def events(path):
    return [e for e in json.load(open(path))["traceEvents"] if e["ph"] == "X"]
a = events("a.b/t.json")
assert [e["name"] + " " + e["cat"] for e in a] == ["sim.idle launch"] + ["sim.step launch"] * 99 + ["sim.total launch", "sim.total grad"] + ["sim.step grad"] * 99
for e, f in zip(a, a[1:]):
    assert e["ts"] + e["dur"] <= f["ts"] + 0.002
assert len(events("a.b/t-2.json")) == 1 and len(events("a.b/t")) == 201
assert len(events("trace.json")) == 202
P
if [ -w /dev/full ]; then
    status=0
    TKC_PROFILE=/dev/full ./host 2>err || status=$?
    test $status = 0
    grep -q "cannot be written to '/dev/full'" err
fi
