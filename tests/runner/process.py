"""A command with a limit of processor time, and none of wall time: a busy machine ends no test.

A command fails when it and the processes that it starts use more processor time than their limit, or when none of their threads runs at IDLE looks in a row: the
command waits for an event that does not come.
"""
import os
import shlex
import signal
import subprocess
from pathlib import Path
from typing import NamedTuple

LOOK = 1.0          # seconds between two looks at a command
IDLE = 300          # looks without a thread that runs or has run
LIMIT = 300         # seconds of processor time
TOO_LONG = "s of processor time"
TICKS = os.sysconf("SC_CLK_TCK")


class Ended(NamedTuple):
    """How a command ended: its status (negative: the signal), its output, its processor time, and why the runner ended it, if it did."""
    status: int
    out: str
    err: str
    seconds: float
    stopped: str | None


class Process(subprocess.Popen):
    """A process whose processor time, with its children's, is in `seconds` behind its end."""
    seconds = 0.0

    def _try_wait(self, wait_flags):
        try:
            pid, status, usage = os.wait4(self.pid, wait_flags)
        except ChildProcessError:
            return self.pid, 0
        if pid == self.pid:
            self.seconds = usage.ru_utime + usage.ru_stime
        return pid, status


def stat(pid):
    """(state, parent, session, ticks of processor time with those of children that ended) of a process; None if there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rsplit(b")", 1)[1].split()
    except (OSError, IndexError):
        return None
    return fields[0], int(fields[1]), int(fields[3]), sum(map(int, fields[11:15]))


def members(leader):
    """{pid: ticks} of the session that a process leads, and of all descendants of its members."""
    every = {int(p): s for p in os.listdir("/proc") if p.isdigit() and (s := stat(p))}
    found = {pid for pid, s in every.items() if s[2] == leader}
    grown = True
    while grown:
        more = {pid for pid, s in every.items() if s[1] in found} - found
        found, grown = found | more, bool(more)
    return {pid: every[pid][3] for pid in found}


def runs(pid):
    """Whether a thread of the process runs, waits for a processor or for a disk."""
    try:
        return any((s := stat(f"{pid}/task/{t}")) and s[0] in b"RD" for t in os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return False


class Watch:
    """The looks at a command."""

    def __init__(self, process, limit):
        self.process, self.limit, self.ticks, self.idle = process, limit, -1, 0

    def look(self):
        """Why the command has to end; None as long as it may go on."""
        at = members(self.process.pid)
        ticks = sum(at.values())
        if ticks > self.limit * TICKS:
            return f"more than {self.limit} {TOO_LONG}"
        self.idle = 0 if ticks != self.ticks or any(map(runs, at)) else self.idle + 1
        self.ticks = ticks
        if self.idle < IDLE:
            return None
        return f"no thread ran at {IDLE} looks" + (", and the command has ended: a process that it started holds its output" if self.process.returncode is not None else "")

    def end(self):
        """Ends the command with all that it started: children of a script would write into a folder that is being removed."""
        for pid in members(self.process.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def execute(cmd, cwd=None, env=None, limit=LIMIT, text=None):
    """Runs a command to its end; `text` is its standard input."""
    cmd = [str(c) for c in cmd]
    environment = {**os.environ, **(env or {})}
    stopped, given = None, text.encode() if text is not None else None
    with Process(cmd, cwd=cwd, env=environment, stdin=subprocess.DEVNULL if text is None else subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                 start_new_session=True) as process:
        watch = Watch(process, limit)
        try:
            while True:
                try:
                    out, err = process.communicate(given, timeout=LOOK)
                    break
                except subprocess.TimeoutExpired:
                    given, stopped = None, stopped or watch.look()
                    if stopped:
                        watch.end()
        except BaseException:
            watch.end()
            raise
    return Ended(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"), process.seconds, stopped and f"{stopped}: {shlex.join(cmd)}")
