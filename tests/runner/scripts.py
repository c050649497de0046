"""Cases that are scripts, unit tests, or searches with an outcome of their own, and the blocks of pages."""
import functools
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

import known
from compile import INCLUDE, SHOP, generate, link, sanitize
from known import FILES, ROOT
from plan import TESTS, Failure, Made, Skip, all_directives, must

SKIPPED = 77                    # status of a script that cannot run here
LIMIT = 1200                    # seconds of processor time: some build all of tkc
TOOLS = "gcc g++ clang clang++ make meson ninja cmake python3 pkg-config ld sh".split()    # by which most scripts go


@functools.cache
def tools():
    return known.digest(*map(known.tool, TOOLS))


# ---- scripts ----

# Words for files that several scripts take.
SETS = {"build-files": ["meson.build", "meson_options.txt", "**/meson.build", "runtime/CMakeLists.txt", "runtime/cmake/**/*"]}


def input_words(sh):
    """The words of a script's lines `# inputs: WORD...`."""
    return [w for words in all_directives(sh, "inputs") for w in words]


def copied_words(sh):
    """The words of its lines `# copies: WORD...`: files that a script copies without a use for their text."""
    return [w for words in all_directives(sh, "copies") for w in words]


@functools.cache
def files_of(word):
    """Files and folders of the tree that a word of `inputs` means."""
    patterns = SETS.get(word, [word.removeprefix("c:")])
    found = sorted(p for pattern in patterns for p in ROOT.glob(pattern) if not any(part.startswith("build") for part in p.relative_to(ROOT).parts))
    if not found:
        raise Failure(f"there is no input {word}")
    return found


def inputs(plan, sh):
    """Notes all that a script depends on: files and folders, for c:FILE.tk the C that tkc writes, and the tools."""
    for word in input_words(sh):
        for path in files_of(word):
            plan.note(path.relative_to(ROOT), FILES.of(path))
            for real in ("f32", "f64") if word.startswith("c:") else ():
                folder = plan.new_folder()
                plan.tkc([path.name, "-o", folder / f"{path.stem}.c", f"--real={real}"], path.parent)
                plan.note(*(FILES.of(p) for p in sorted(folder.iterdir())))
    plan.note(FILES.of(sh), tools())


def has_inputs(sh):
    return bool(all_directives(sh, "inputs"))


def script(plan, sh):
    """X.sh: ends with status 0, or 77 where it cannot run and says why. Finds the compiler in $TKC and, below install/, an installed tree in $PREFIX. A program that
    links with the library of a build with sanitizers takes $SANITIZE as well."""
    config = plan.config
    inputs(plan, sh)
    env = {"TKC": str(config.tkc), "CC": config.cc, "CXX": config.cxx, "ROOT": str(ROOT), "INCLUDE": str(INCLUDE), "SANITIZE": " ".join(sanitize(config))}

    def check(status, out, err):
        if status == SKIPPED:
            raise Skip(out.strip())
        if status != 0:
            raise Failure(f"status {status}: {sh}\n{out[-3000:]}{err[-3000:]}")
    command = ["sh", "-eu", sh]
    if sh.parent.name == "install":
        command = [installed(config.build), *command]
    plan.later(command, cwd=plan.new_folder(), env=env, check=check, limit=LIMIT)


@functools.cache
def installed(build):
    """The words that put an installed tree into a command's environment: the tree is made once."""
    return Made("installed", functools.partial(install, build))


def install(build):
    temporary = tempfile.TemporaryDirectory(dir=SHOP.temporary.name)
    temporary._finalizer.detach()       # the folder around it is removed in the end
    prefix, dest = Path(temporary.name, "usr"), Path(temporary.name, "dest")
    SHOP.run(["meson", "install", "-C", build, "--no-rebuild", "--destdir", dest])
    # A build directory keeps the prefix it was set up with: the installed tree is moved, as packagers do.
    os.rename(next(dest.rglob("bin/tkc")).parent.parent, prefix)
    for pc in prefix.rglob("tkc.pc"):
        pc.write_text(re.sub(r"(?m)^prefix=.*$", f"prefix={prefix}", pc.read_text()))
    pc = next(prefix.rglob("tkc.pc")).parent
    return ["env", f"PREFIX={prefix}", f"PKG_CONFIG_PATH={pc}", f"LD_LIBRARY_PATH={pc.parent}", f"PATH={prefix}/bin:{os.environ['PATH']}"]


# ---- unit tests ----

def units(build):
    """{name: (command, environment)} of the programs that Meson knows."""
    said = subprocess.run(["meson", "introspect", "--tests", str(build)], capture_output=True, text=True, check=True).stdout
    return {t["name"]: (t["cmd"], t["env"]) for t in json.loads(said)}


def unit(plan, what):
    """A program of tests/unit ends with status 0."""
    cmd, env = what
    plan.note(*(FILES.of(p) for p in (cmd[0], *sorted((plan.config.build / "runtime").glob("libtkc.so*")))))

    def check(status, out, err):
        if status != 0:
            raise Failure("\n".join((out + err).splitlines()[-200:]))
    plan.later(cmd, cwd=plan.new_folder(), env=env, check=check)


def command(plan, cmd):
    """A command ends with status 0."""
    plan.later(cmd, cwd=ROOT, limit=36000)


# ---- searches: commands whose last line is `N passed, N failed` ----

class Counted(Exception):
    """Not a failure: how many of a search passed, how many failed, and its report."""


def search(plan, cmd):
    cmd = [str(plan.config.build) if word == "BUILD" else word for word in cmd]

    def check(status, out, err):
        m = re.search(r"^(\d+) passed, (\d+) failed$", out.strip().rpartition("\n")[2])
        if not m:
            raise Failure(f"status {status}: {' '.join(map(str, cmd))}\n{out[-4000:]}{err[-2000:]}")
        raise Counted(int(m[1]), int(m[2]), "\n".join(line for line in out.splitlines()[:-1] if re.match(r"FAILED|\.\.\. |.* failed with ", line)) if m[2] != "0" else "")
    plan.later(cmd, cwd=ROOT, check=check, limit=36000)


# ---- pages ----

def same(shown, said, who):
    if shown.strip() != said.strip():
        raise Failure(f"the page shows:\n{shown}\nbut {who}:\n{said}")


def options(words):
    """The options of tkc that words of a mark mean."""
    return [*(["--debug"] if "debug" in words else []), *(["--real=f64"] if "f64" in words else [])]


def snippet(plan, parts):
    """Marked blocks of a page: a module compiles; a host program with it runs and prints the text of the page."""
    if "tk" not in parts:
        raise Failure("marked, but no ```tk block carries the name")
    folder, words = plan.new_folder(), parts["words"]
    tk = folder / "in" / f"{parts['name']}.tk"
    tk.parent.mkdir()
    tk.write_text(parts["tk"])
    plan.note(*(f"{k} {sorted(v) if isinstance(v, set) else v}" for k, v in sorted(parts.items())))
    if "error" in words:
        status, _, err = plan.tkc([tk.name, "-o", folder / f"{tk.stem}.c"], tk.parent)
        if status != 1:
            raise Failure(f"status {status}, but the page says that it is an error")
        same(parts.get("text", err), err, "tkc says")
        return
    obj = generate(plan, tk, options(words), folder)
    for word, option in (("explain", "--explain-adjoint"), ("words", "--explain")):
        if word in words:
            cmd = [tk.name, option, "-o", folder / f"{tk.stem}.c"] if word == "explain" else [tk.name, option]
            status, out, err = plan.tkc(cmd, tk.parent)
            must(cmd, status, out, err)
            if word == "explain" or parts["text"].strip() not in out:
                same(parts["text"], out, "tkc says")
    if "python" in parts:
        python(plan, tk, parts)
    if "c" not in parts:
        return
    host = tk.with_suffix(".c")
    host.write_text(parts["c"])
    if "main(" not in parts["c"]:
        plan.later([plan.config.cc, "-std=c11", "-D_GNU_SOURCE", "-fsyntax-only", "-I", folder, "-I", INCLUDE, host])
        return

    def check(status, out, err):
        must([host.stem], status, out, err)
        same(parts.get("text", out), out, "the program prints")
    plan.later([link(plan, host, [obj], folder)], check=check)


@functools.cache
def python_with(*modules):
    """(a Python that has these modules, a hash of its version and packages), or None."""
    for python in ("python3", "/usr/bin/python3"):
        done = subprocess.run([python, "-W", "ignore", "-c", f"import sys, {', '.join(modules)}; print(sys.version); print(*sys.path, sep='\\n')"], capture_output=True, text=True)
        if done.returncode == 0:
            version, *path = done.stdout.splitlines()
            return python, known.digest(version, *sorted(p.name for folder in path if folder for p in Path(folder).glob("*-info")))
    return None


def python(plan, tk, parts):
    """The module that --python makes, and a program with it, which prints the text of the page."""
    config = plan.config
    if config.sanitize:
        return                                          # the library would ask for the sanitizers' in Python
    wanted = next((w for w in ("torch", "jax") if w in parts["words"]), "numpy")
    found = python_with("numpy", wanted)
    if not found:
        raise Skip(f"no {wanted} (python3-{wanted})" if wanted != "jax" else "no JAX (python3 -m pip install jax)")
    plan.note(FILES.of(ROOT / "compiler" / "python"), FILES.of(ROOT / "runtime" / "src"), found[1])
    cc = f"{config.cc} -I{INCLUDE} -L{config.build}/runtime -Wl,--no-as-needed -ltkc"
    plan.later([config.tkc, tk.name, "--python" if wanted == "numpy" else f"--python={wanted}", f"--cc={cc}", *options(parts["words"])], cwd=tk.parent)
    program = tk.parent / "program.py"
    program.write_text(parts["python"])

    def check(status, out, err):
        if missing := re.search(r"No module named '(scipy)", err):
            raise Skip(f"no {missing[1]} (python3-{missing[1]})")
        if status != 0:
            raise Failure(f"status {status}\n{out}{err}")
        same(parts["text"], out, "the program prints")
    plan.later([found[0], "-B", "-W", "error" if wanted == "numpy" else "ignore", program], cwd=tk.parent, env={"LD_LIBRARY_PATH": f"{config.build}/runtime"}, check=check)
