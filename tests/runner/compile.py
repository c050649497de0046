"""How the cases compile: modules, hosts, the checkers of tests/tools, and libraries with loops of the smallest pieces."""
import concurrent.futures
import functools
import json
import os
import re
import shlex
import sys
import tempfile
import threading
from pathlib import Path

import known
import process
from known import FILES, ROOT
from plan import TESTS, Failure, Made, Skip, directive, must

sys.path.append(str(TESTS / "tools"))
import checkers  # noqa: E402

INCLUDE = ROOT / "runtime" / "include"
STRICT = "-Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion -Werror".split()
GENERATED = ["-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd"]
RACE = ["-fsanitize=thread", "-g"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"]
TRAP = ["-fsanitize=address,undefined", "-fsanitize-trap=undefined", "-gline-tables-only"]
SMALL = ["-DTK_MIN_CHUNK=4", "-DTK_MIN_PARALLEL=1", "-DTK_ATOMIC_CYCLES=0"]    # loops are split however small they are


def sanitize(config):
    if not config.sanitize:
        return []
    return [o.replace("-gline-tables-only", "-g1") if "clang" not in config.cc else o for o in TRAP] if config.trap else SANITIZE


class Shop:
    """Checkers and libraries that cases share. Each is made when the first case takes it, and kept in the store, if there is one."""

    def __init__(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.made, self.lock = {}, threading.Lock()

        if kept := known.place():
            self.folder = kept / "made"
            self.folder.mkdir(parents=True, exist_ok=True)

    def run(self, cmd, **kw):
        ended = process.execute(cmd, **kw)
        if ended.stopped:
            raise Failure(ended.stopped)
        must(cmd, *ended[:3])

    def shared(self, cc, sources, options, library):
        """The objects of C files, or a static library of them."""
        key = known.digest(cc, known.tool(cc), library, *options, *(part for s in sources for part in FILES.with_includes(s, [TESTS / "tools", INCLUDE])), FILES.of(INCLUDE))
        with self.lock:
            if key not in self.made:
                self.made[key] = Made(key, functools.partial(self.objects, self.folder / key, cc, sources, options, library))
            return self.made[key]

    def objects(self, folder, cc, sources, options, library):
        stems = [s.stem for s in sources]
        if twice := {s for s in stems if stems.count(s) > 1}:
            raise Failure(f"two C files have one name: {', '.join(sorted(twice))}")
        names = ["libtkc.a"] if library else [f"{stem}.o" for stem in stems]
        if not folder.exists():
            half = (len(sources) + 1) // 2
            with tempfile.TemporaryDirectory(dir=self.folder) as tmp, concurrent.futures.ThreadPoolExecutor() as pool:
                both = [pool.submit(self.run, [cc, *options, "-I", TESTS / "tools", "-I", INCLUDE, "-c", *part], cwd=tmp) for part in (sources[:half], sources[half:]) if part]
                for one in both:
                    one.result()
                if library:
                    self.run(["ar", "rcs", "libtkc.a", *(f"{s.stem}.o" for s in sources)], cwd=tmp)
                done = Path(tmp, "done")
                done.mkdir()
                for name in names:
                    os.rename(Path(tmp, name), done / name)
                try:
                    os.rename(done, folder)
                except OSError:                             # another run was the first to make them
                    if not folder.exists():
                        raise
        os.utime(folder)
        return [folder / name for name in names]


SHOP = Shop()


def checker(config, name, options=None):
    """The objects of tools/NAME."""
    options = sanitize(config) if options is None else options
    return SHOP.shared(config.cc, checkers.sources(name), ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", *options], False)


def library_of(config, options):
    """libtkc by the compiler of the case."""
    sources = sorted((ROOT / "runtime" / "src").glob("*.c"))
    return SHOP.shared(config.cc, sources, ["-std=c11", "-D_GNU_SOURCE", "-fexceptions", "-pthread", "-I", ROOT / "runtime" / "src", *options, *sanitize(config)], True)


def library(config):
    """libtkc as users have it: of the tree, if the tree is built by the compiler of the case."""
    if config.sanitize or config.cc != "gcc":
        return library_of(config, ["-O1" if config.sanitize else "-O2"])
    options = {o["name"]: o["value"] for o in json.loads((config.build / "meson-info" / "intro-buildoptions.json").read_text())}
    key = known.digest(known.tool("gcc"), FILES.of(ROOT / "runtime"), FILES.of(ROOT / "meson.build"), *(options.get(name) for name in ("buildtype", "optimization", "b_sanitize", "b_ndebug", "c_args")))
    return Made(key, lambda: [config.build / "runtime" / "libtkc.a"])


def small_chunks(config):
    return library_of(config, ["-O1", *SMALL])


@functools.cache
def race_works(cc):
    """Why programs with the thread sanitizer do not run here; None if they do: some kernels do not let them."""
    with tempfile.TemporaryDirectory() as tmp:
        probe = Path(tmp, "probe.c")
        probe.write_text("int main(void) { return 0; }\n")
        try:
            SHOP.run([cc, *RACE, probe, "-o", f"{tmp}/probe"])
            SHOP.run([f"{tmp}/probe"])
        except Failure as e:
            return str(e).strip().splitlines()[-1]
    return None


def race_library(config):
    if why := race_works(config.cc):
        raise Skip(f"the thread sanitizer does not run here: {why}")
    return library_of(config, ["-O1", *SMALL, *RACE])


def generate(plan, tk, flags, folder, options=None, compiled=(), level="-O1"):
    """Generates and compiles a module strictly; its header compiles as C++ as well. Gives the object."""
    config = plan.config
    name = next((f[9:] for f in flags if f.startswith("--prefix=")), tk.stem)
    c, header, obj = f"{folder}/{name}.c", f"{folder}/{name}.h", f"{folder}/{name}.gen.o"
    status, out, err = plan.tkc([tk.name, "-o", c, *flags], tk.parent)
    if status != 0 or set(re.findall(r"\[([A-Z]\d+)\]\n", err)) != set(directive(tk, "warned")) or (err and not directive(tk, "warned")):
        raise Failure(f"status {status}: tkc {tk.name} {' '.join(flags)}\n{out[-2000:]}{err[-4000:]}")
    options = sanitize(config) if options is None else options
    # Optimising takes most of the time, and in code that is full of checks it would hide what they see.
    level = "-O0" if options else "-O1" if config.short else level
    plan.later([config.cc, "-std=c11", level, *STRICT, *GENERATED, *options, *compiled, *shlex.split(config.options), "-I", INCLUDE, "-c", c, "-o", obj])
    if not config.sanitize:                                 # a header has no code to be sanitized
        plan.later([config.cxx, "-std=c++17", *STRICT, "-I", INCLUDE, "-fsyntax-only", "-x", "c++", "-include", header, "/dev/null"])
    return obj


def link(plan, host, objects, folder, with_library=None):
    """A program of a host and objects."""
    config, exe, cxx = plan.config, f"{folder}/{host.stem}{'_other' if with_library else ''}.exe", host.suffix == ".cpp"
    plan.later([config.cxx if cxx else config.cc, "-std=c++17" if cxx else "-std=c11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror", *sanitize(config),
                "-I", folder, "-I", host.parent, "-I", INCLUDE, host, *objects, with_library or library(config), "-pthread", "-lm", "-o", exe])
    return exe


def link_checker(plan, names, stub, objects, folder, with_library=None, options=None):
    """A program of checkers of tests/tools, the C that hands them a module, and objects."""
    config, exe = plan.config, f"{folder}/{names[0]}.exe"
    options = sanitize(config) if options is None else options
    plan.later([config.cc, "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", *options, "-I", folder, "-I", TESTS / "tools", "-I", INCLUDE,
                *(checker(config, name, options) for name in names), stub, *objects, with_library or library(config), "-pthread", "-lm", "-o", exe])
    return exe
