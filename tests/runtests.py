#!/usr/bin/env python3
"""Runs tests; docs/inside/testing.md describes them.

    runtests.py --build DIR [--cc gcc] [--cxx g++] [--sanitize] [--short] [--options "-O3 ..."] [--update] [--known] [OPTION...] [WORD...]
    runtests.py --plan quick|fresh|all [--afresh] [OPTION...] [WORD...]

The first form runs the tests of a build, the second builds and runs a whole plan, as tests/run.sh does. With words, only cases whose names have all components of one of
them: `ad/` (a folder), `run/types`, `driver/ir_*`. Prints a line for each failure and at the end `N passed, N failed, N skipped`.
Cases that pass are entered in a store. With --known, and with --plan, those that passed before with the same C, compilers and libraries are skipped, but for a tenth that
rotates. --afresh goes without the store.
"""
import argparse
import os
import sys
from pathlib import Path

if "--afresh" in sys.argv:
    os.environ["TKC_TESTS_STORE"] = ""    # for the scripts that this one runs as well
sys.path.insert(0, str(Path(__file__).resolve().parent / "runner"))
import cases  # noqa: E402
import plans  # noqa: E402
import run  # noqa: E402
from plan import Config  # noqa: E402


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--build")
    ap.add_argument("--plan", choices=plans.PLANS)
    ap.add_argument("--cc", default="gcc")
    ap.add_argument("--cxx", default="g++")
    ap.add_argument("--sanitize", action="store_true", help="generated code and hosts with address and undefined-behaviour sanitizers")
    ap.add_argument("--short", action="store_true", help="the first only of several lines `// flags:` and `// compiled:`, the sizes of `// race:` in tests/parallel, and generated code at -O1")
    ap.add_argument("--options", default="", help="more options for generated code: '-O3 -march=native -ffp-contract=fast'")
    ap.add_argument("--update", action="store_true", help="rewrite the expected files")
    ap.add_argument("-j", type=int, help="cases at a time: without it one more than processors")
    ap.add_argument("--stop", action="store_true", help="end at the first failure")
    ap.add_argument("-v", action="store_true", help="a line for each case with the processor time that it took, and the processor time that each command took")
    ap.add_argument("--known", action="store_true", help="skip cases that passed before, but for a tenth that rotates")
    ap.add_argument("--afresh", action="store_true", help="without the store: run everything, and keep nothing")
    ap.add_argument("--without", default="", metavar="WORD,...", help="leaves out cases that one of these words means")
    ap.add_argument("words", nargs="*")
    args = ap.parse_args()
    if bool(args.build) == bool(args.plan):
        ap.error("one of --build and --plan is needed")
    without = [w for w in args.without.split(",") if w]
    if args.plan:
        todo = plans.PLANS[args.plan](args.words, without)
    else:
        name = f"{args.cc}{' with sanitizers' if args.sanitize else ''}"
        config = Config(name, Path(args.build).resolve(), args.cc, args.cxx, args.sanitize, True, args.short, args.options, args.update)
        todo = cases.chosen([*cases.all_cases(config), *cases.unit_cases(config, False)], args.words, without)
    store, times = run.open_store(args.known or args.plan is not None and not args.afresh, args.plan != "quick")
    runner = run.Runner(todo, store, args.j, args.v, args.stop, times.read())
    outcome = runner.run()
    times.write(runner.times)
    store.prune()
    if args.v:
        print("processor time by command:", ", ".join(f"{name} {seconds:.0f}" for name, seconds in outcome.commands.most_common()))
    run.report(outcome, store)
    if args.plan in plans.LEFT_OUT:
        print(f"left out, and part of --all: {plans.LEFT_OUT[args.plan]}")
    print(outcome.line())
    return outcome.failed > 0


if __name__ == "__main__":
    sys.exit(main())
