"""Runs cases side by side, the slow ones first, and reports."""
import collections
import json
import os
import tempfile
import threading

import known
from plan import Failure, Plan, Skip, Trapped
from scripts import Counted


class Outcome:
    """Of all cases of a run."""

    def __init__(self):
        self.passed = self.failed = self.known = self.skipped = 0
        self.seconds = collections.Counter()               # by (configuration, group)
        self.cases, self.known_cases = collections.Counter(), collections.Counter()
        self.commands = collections.Counter()

    def line(self):
        return f"{self.passed} passed, {self.failed} failed, {self.known + self.skipped} skipped"


class Runner:
    """Cases, workers that take them, and the outcome."""

    def __init__(self, cases, store, jobs=None, verbose=False, stop=False, times=None):
        self.times, self.todo, self.building = times or {}, [], 0
        self.add(cases)
        self.store, self.verbose, self.stop = store, verbose, stop
        self.jobs = jobs or os.cpu_count() + 1             # one more than processors, as some wait for their threads
        self.outcome, self.changed, self.ended = Outcome(), threading.Condition(), False

    def one(self, case):
        """(how the case ended: passed, failed, known, skipped; why; passed and failed of a search)."""
        with tempfile.TemporaryDirectory() as folder:
            plan = Plan(case.config, folder)
            try:
                return *self.attempt(case, plan), plan
            except Trapped as trap:                        # once more, for the message
                again = Plan(case.config.untrapped(), tempfile.mkdtemp(dir=folder))
                end = self.attempt(case, again, False)
                plan.seconds += again.seconds
                return "failed", end[1] or str(trap), (0, 1), plan

    def attempt(self, case, plan, use_store=True):
        try:
            case.kind(plan, case.what)
            key = plan.key() if case.keyed and use_store and not plan.config.update else None
            if key and self.store.knows(case.label, key):
                return "known", None, (0, 0)
            plan.carry_out()
            if key:
                self.store.add(case.label, key)
        except Counted as c:
            return "failed" if c.args[1] else "passed", c.args[2] or None, c.args[:2]
        except Skip as e:
            return "skipped", str(e), (0, 0)
        except Trapped:
            raise
        except Failure as e:
            return "failed", str(e), (0, 1)
        except Exception as e:  # a fault of the test itself is a failure of the test
            return "failed", f"{type(e).__name__}: {e}", (0, 1)
        return "passed", None, (1, 0)

    def next_case(self):
        """The slowest case that is left; waits while a build may bring more of them. None at the end."""
        with self.changed:
            while not self.todo and self.building and not self.ended:
                self.changed.wait()
            if not self.todo or self.ended:
                return None
            case = self.todo.pop(0)
            self.building += case.then is not None
            return case

    def worker(self):
        while case := self.next_case():
            how, why, (passed, failed), plan = self.one(case)
            more = []
            if case.then and how != "failed":
                try:
                    more = case.then()
                except Exception as e:  # a fault of a plan
                    how, why, passed, failed = "failed", f"{type(e).__name__}: {e}", 0, 1
            with self.changed:
                self.count(case, how, why, passed, failed, plan)
                self.building -= case.then is not None
                self.add(more)
                self.changed.notify_all()

    def add(self, cases):
        for c in cases:
            c.seconds = self.times.get(c.label, c.seconds)
        self.todo = sorted([*self.todo, *cases], key=lambda c: -c.seconds)

    def count(self, case, how, why, passed, failed, plan):
        o, part = self.outcome, (case.config.name, case.group)
        o.passed += passed
        o.failed += failed
        o.known += how == "known"
        o.skipped += how == "skipped"
        o.cases[part] += 1
        o.known_cases[part] += how == "known"
        o.seconds[part] += plan.seconds
        for name, seconds in plan.took:
            o.commands[name] += seconds
        if how == "passed":
            self.times[case.label] = round(plan.seconds, 1)
        if how in ("failed", "skipped"):
            print(f"{'FAILED' if how == 'failed' else how} {case.label}: {why}", flush=True)
        elif self.verbose:
            print(f"{how:7} {plan.seconds:6.1f} s  {case.label}", flush=True)
        self.ended = self.ended or self.stop and o.failed > 0

    def run(self):
        workers = [threading.Thread(target=self.worker) for _ in range(self.jobs)]
        for w in workers:
            w.start()
        for w in workers:
            w.join()
        return self.outcome


def report(outcome, store):
    """Prints the processor time of each part, and how much was known."""
    parts = sorted(outcome.seconds, key=lambda p: -outcome.seconds[p])
    print("  processor time, s    cases    known  part")
    for part in parts:
        print(f"  {outcome.seconds[part]:17.1f} {outcome.cases[part]:8} {outcome.known_cases[part]:8}  {part[0]}: {part[1]}")
    print(f"  {sum(outcome.seconds.values()):17.1f} {sum(outcome.cases.values()):8} {outcome.known:8}  all")
    if outcome.known:
        print(f"{outcome.known} cases passed before with the same C, compilers and libraries, since {store.date()}: they count as skipped; --afresh runs them")


class Times:
    """Processor time that each case took when it ran last, in the store's folder."""

    def __init__(self, folder):
        self.path = folder / "times.json" if folder else None

    def read(self):
        try:
            return json.loads(self.path.read_text()) if self.path else {}
        except (OSError, ValueError):
            return {}

    def write(self, times):
        if self.path:
            with tempfile.NamedTemporaryFile("w", dir=self.path.parent, delete=False) as f:
                json.dump(times, f, indent=0, sort_keys=True)
            os.replace(f.name, self.path)


def open_store(use, rotate):
    """The user's store, or none; it says what is known if it is used, and gets the keys of cases that pass in any case."""
    folder = known.place()
    return known.Store(folder, not use, use and rotate), Times(folder)
