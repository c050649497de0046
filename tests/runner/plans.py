"""The plans of tests/run.sh and tests/campaign.sh: trees that are built, and the cases that run with them."""
import os
from pathlib import Path

import scripts
from constructs import Map
from cases import SECONDS, Case, all_cases, chosen, same_bytes, unit_cases
from known import ROOT
from plan import TESTS, Config, must

SANITIZED = ["-Doptimization=0", "-Db_sanitize=address,undefined", "-Db_lundef=false", "-Dfuzz=true"]
PYTHON = "/usr/bin/python3"       # Debian's, whose packages the models take
# Scripts that gcc's build alone runs: they read files of the tree, or programs that other cases have.
ONCE = [f"driver/{name}" for name in ("abi", "array_bounds", "benchmarks", "constructs", "dumps", "editors", "embed", "errors_doc", "functions", "gradbench", "generated", "growth", "layers", "lines",
                                      "links", "planted", "python", "samples", "shared_loops")]
LONG = 8                          # seconds of processor time of a script that only --all runs
GENERATED = ("run", "ad", "algorithms", "export", "parallel", "ops", "docs")
TEXTS = ("syntax", "check", "rules", "explain", "plan", "passes")


# ---- trees ----

def build(plan, what):
    """Sets a tree up, if it is not there, and builds it."""
    cc, cxx, options = what
    folder = plan.config.build
    env = {"CC": cc, "CXX": cxx}
    if not (folder / "build.ninja").exists():
        setup = ["meson", "setup", folder, ROOT, "--buildtype=debugoptimized", "-Dwerror=true", *options]
        must(setup, *plan.run(setup, env=env, limit=scripts.LIMIT))
    status, out, err = plan.run(["ninja", "-C", folder], env=env, limit=scripts.LIMIT)
    if status != 0:
        out = "\n".join(line for line in out.splitlines() if not line.startswith("["))
    must(["ninja", "-C", folder], status, out, err)


def tree(config, options, then):
    """The case that builds a configuration's tree; `then` gives the cases that take it."""
    return Case("build", build, (config.cc, config.cxx, options), config, False, 600, then)


def folder(name):
    return Path(os.environ.get("TKC_TEST_BUILDS") or ROOT, name)


def gcc(**more):
    return Config("gcc", folder("build-gcc"), **more)


def clang(**more):
    """Generated code by clang. The C is that of gcc's build: another build of tkc writes the same bytes."""
    return Config("clang", folder("build-gcc"), "clang", "clang++", **more)


def sanitizers(**more):
    """Generated code by clang with sanitizers, of gcc's build."""
    return Config("sanitizers", folder("build-gcc"), "clang", "clang++", sanitize=True, short=True, **more)


def sanitized():
    """tkc itself by clang with sanitizers. It is not optimised, which takes a quarter of the time to build: functions that call themselves have greater frames then."""
    return Config("tkc with sanitizers", folder("build-asan"), "clang", "clang++", sanitize=True, short=True, stack=65536)


# ---- searches ----

def searches(config, lists):
    """Cases of `random: OPTIONS` and `model: OPTIONS`: (name, script, options, seconds)."""
    for name, script, options, seconds in lists:
        python = PYTHON if script.startswith("model/") else "python3"
        yield Case(name, scripts.search, [python, TESTS / script, "--build", "BUILD", *options.split()], config, False, seconds)


FRESH = [("random/programs", "random/run.py", "-n 25 --flags 0", 45), ("random/rewrites", "random/rewrites.py", "-n 2", 8), ("random/schedules", "random/schedules.py", "-n 4 --cc=", 8), ("random/tables", "random/tables.py", "-n 2", 3), ("random/elements", "random/elements.py", "-n 1 --cc gcc", 4),
         *((f"model/{name}", f"model/{name}.py", "--short", 20) for name in ("functions", "matrices", "spectral", "operators", "randoms"))]
ALL = [("random/programs", "random/run.py", "-n 24", 60), ("random/rewrites", "random/rewrites.py", "-n 16", 45), ("random/schedules", "random/schedules.py", "-n 2", 15), ("random/tables", "random/tables.py", "-n 10", 15), ("random/elements", "random/elements.py", "-n 4", 60),
       ("random/broken", "random/run.py", "-n 25 --broken --from 150", 30), *((f"model/{name}", f"model/{name}.py", "", 40) for name in ("functions", "matrices", "spectral", "operators", "randoms"))]


# ---- plans ----

def of(config, *groups, without=()):
    """The cases of a configuration in these folders."""
    return [c for c in chosen(all_cases(config), [], without) if c.group in groups]


def constructs(config):
    """The cases that have each construct of the language."""
    the_map = Map(ROOT)
    the_map.check()
    return chosen(all_cases(config), the_map.few_tests())


def quick():
    """The build, and all that a change can touch and is not known, but for long scripts. Of the scripts that are never known, the short ones."""
    def then():
        config = gcc(short=True)
        found = of(config, *TEXTS, *GENERATED, "driver")
        return [*unit_cases(config, True), *(c for c in found if c.seconds <= (LONG if c.keyed or c.group in TEXTS else SECONDS["driver"]))]
    return [tree(gcc(), [], then)]


def fresh():
    """What one run on a fresh machine shows."""
    def then():
        config = gcc(short=True)
        every = [c for c in all_cases(config) if c.group not in ("race", "ir_text") and not (c.kind is scripts.script and c.keyed and (c.group == "install" or c.seconds > LONG))]
        return [*unit_cases(config, False), *every, *constructs(sanitizers()), *constructs(clang(short=True)), *searches(config, FRESH)]
    return [tree(gcc(), [], then)]


def everything():
    def then():
        config = gcc()
        return [tree(sanitized(), SANITIZED, of_sanitized), *unit_cases(config, False), *all_cases(config), *searches(config, ALL),
                *of(clang(), "run", "algorithms"), *of(sanitizers(), *GENERATED)]

    def of_sanitized():
        config = sanitized()
        return [*unit_cases(config, False), *of(config, *TEXTS, "driver", without=ONCE), *same_bytes(gcc(), config.build), *fuzz(config)]
    return [tree(gcc(), [], then)]


def clang_tree():
    """tkc by clang, optimised: for the campaign, as the other plans have it with sanitizers alone."""
    config = Config("clang's build", folder("build-clang"), "clang", "clang++")

    def then():
        return [*unit_cases(config, False), *of(config, *TEXTS, "run", "driver"), *same_bytes(gcc(), config.build)]
    return [tree(config, [], then)]


def fuzz(config):
    """The fuzzer's first inputs, in parts."""
    parts = 4
    return [Case(f"fuzz/{k}", scripts.command, ["sh", TESTS / "fuzz" / "run.sh", "0", config.build, f"{k}/{parts}"], config, False, 20) for k in range(parts)]


def plan(make):
    """A function of words: the cases of a plan that they mean, with the builds that these take."""
    def of_words(words, without):
        def only(case):
            if case.then:
                then = case.then
                case.then = lambda: [only(c) for c in then() if c.then or chosen([c], words, without)]
            return case
        return [only(c) for c in make()]
    return of_words


LEFT_OUT = {"quick": "long scripts, searches, races, and all that does not depend on the compiler", "fresh": "tkc built with clang and with sanitizers; generated code with clang and with sanitizers, "
            "but for one test of each construct; further flags, and -O2; races; long scripts; most of install/; larger searches"}
PLANS = {"quick": plan(quick), "fresh": plan(fresh), "all": plan(everything), "clang": plan(clang_tree)}
