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
# signals.py TKC SIGNAL [ignored]: the signal ends tkc and its C compiler, or SIGTERM if tkc found the signal ignored
cat >signals.py <<'P'
import contextlib, os, signal, subprocess, sys, time
number, ignored = getattr(signal, sys.argv[2]), sys.argv[3:] == ["ignored"]
p = subprocess.Popen([sys.argv[1], "gravity.tk", "-c", "-o", "g.o", "-MD", "--cc=./slow"], start_new_session=True,
                     preexec_fn=lambda: signal.signal(number, signal.SIG_IGN if ignored else signal.SIG_DFL))
try:
    while not os.path.exists("started") or not open("started").read().strip():
        assert p.poll() is None, f"tkc ended with status {p.returncode} before its C compiler began"
        time.sleep(0.01)
    child = int(open("started").read())
    assert len(os.listdir("tmp")) == 1 and any(n.startswith("g.o.") for n in os.listdir("."))
    if ignored:
        signals = int(open(f"/proc/{p.pid}/status").read().split("SigIgn:")[1].split()[0], 16)
        assert signals >> number - 1 & 1, f"tkc ignores the signals {signals:x}, without {sys.argv[2]}"
        p.send_signal(number)
        number = signal.SIGTERM
    p.send_signal(number)
    assert p.wait() == -number, p.returncode
    try:
        os.kill(child, 0)
        sys.exit("the C compiler still runs")
    except ProcessLookupError:
        pass
finally:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(p.pid, signal.SIGKILL)
P
nothing_left()
{
    rm -f started
    test "$(echo *)" = "gravity.tk signals.py slow tmp" && test -z "$(ls -A tmp)" || { echo "$1: left" * tmp/*; exit 1; }
}
for signal in SIGHUP SIGINT SIGTERM SIGQUIT; do
    python3 signals.py "$TKC" $signal || { echo "$signal: status $?"; exit 1; }
    nothing_left $signal
done

# what nohup ignores stays ignored
python3 signals.py "$TKC" SIGHUP ignored
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
