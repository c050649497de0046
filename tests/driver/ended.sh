# Runs that a signal, a full device or a limit ends: nothing is left, and the status tells.
cp "$ROOT/samples/gravity/gravity.tk" .
mkdir tmp
export TMPDIR=$PWD/tmp

# A C compiler that begins its output, says so, and does not end by itself.
cat >slow <<'S'
#!/bin/sh
case " $* " in *" -fsyntax-only "*) exit 1 ;; esac
while [ "$1" != -o ]; do shift; done
echo begun >"$2"
echo $$ >started
exec sleep infinity
S
chmod +x slow
nothing_left()
{
    rm -f started
    test "$(echo *)" = "gravity.tk slow tmp" && test -z "$(ls -A tmp)" || { echo "$1: left" * tmp/*; exit 1; }
}
for signal in HUP:129 INT:130 TERM:143 QUIT:131; do
    python3 - "$TKC" "${signal%:*}" <<'P' || { echo "${signal%:*}: status $?"; exit 1; }
import os, signal, subprocess, sys, time
number = getattr(signal, "SIG" + sys.argv[2])
p = subprocess.Popen([sys.argv[1], "gravity.tk", "-c", "-o", "g.o", "-MD", "--cc=./slow"], preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
while not os.path.exists("started") or not open("started").read().strip():
    assert p.poll() is None, f"tkc ended with status {p.returncode} before its C compiler began"
    time.sleep(0.01)
child = int(open("started").read())
assert len(os.listdir("tmp")) == 1 and any(n.startswith("g.o.") for n in os.listdir("."))
p.send_signal(number)
assert p.wait() == -number, p.returncode
try:
    os.kill(child, 0)
    sys.exit("the C compiler still runs")
except ProcessLookupError:
    pass
P
    nothing_left "$signal"
done

# what nohup ignores stays ignored
python3 - "$TKC" <<'P'
import os, signal, subprocess, sys, time
p = subprocess.Popen([sys.argv[1], "gravity.tk", "-c", "-o", "g.o", "--cc=./slow"], preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
while not os.path.exists("started") or not open("started").read().strip():
    assert p.poll() is None, f"tkc ended with status {p.returncode} before its C compiler began"
    time.sleep(0.01)
ignored = int(open(f"/proc/{p.pid}/status").read().split("SigIgn:")[1].split()[0], 16)
assert ignored >> signal.SIGHUP - 1 & 1, f"tkc ignores the signals {ignored:x}, without SIGHUP"
p.send_signal(signal.SIGHUP)
p.send_signal(signal.SIGTERM)
assert p.wait() == -signal.SIGTERM
P
nothing_left "ignored SIGHUP"

# files may not grow
status=0
(ulimit -f 1; exec "$TKC" gravity.tk) 2>err || status=$?
test $status = 1
grep -q "cannot write 'gravity.[ch]': File too large \[E0702\]" err
rm err
nothing_left "limit"

# a full device
for option in --help --version --list-passes "gravity.tk --emit=ir" "gravity.tk --emit=c" "gravity.tk --explain-adjoint"; do
    status=0
    "$TKC" $option >/dev/full 2>err || status=$?
    test $status = 1 || { echo "$option: status $status"; exit 1; }
    grep -q "standard output.*: No space left on device" err || { echo "$option:"; cat err; exit 1; }
    rm err
done
nothing_left "full"
