"""tkc, the compiler of .tk kernels, from Python: compile() gives a module with the kernels of a file or of a text, and their derivatives."""
import contextlib
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import types
import typing
import warnings
from pathlib import Path

__all__ = ["compile", "CompileError", "NoCompiler", "TkcWarning"]

_ROOT = Path(__file__).resolve().parent / "installed"
_TKC = _ROOT / "bin" / "tkc"
_loaded: typing.Dict[str, types.ModuleType] = {}
_lock = threading.Lock()


class CompileError(Exception):
    """An error in a program. diagnostics: what tkc says, a list of dicts with file, line, column, code and message."""

    def __init__(self, message: str, diagnostics: typing.Iterable[typing.Dict[str, typing.Any]] = ()) -> None:
        super().__init__(message)
        self.diagnostics = list(diagnostics)


class NoCompiler(CompileError):
    """There is no C compiler, which compile() needs for what it generates."""


class TkcWarning(UserWarning):
    """A warning of tkc about a program."""


def compile(source: typing.Union[str, "os.PathLike[str]"], *, name: typing.Optional[str] = None, real: str = "f32", debug: bool = False,
            defines: typing.Optional[typing.Mapping[str, object]] = None, include: typing.Iterable[typing.Union[str, "os.PathLike[str]"]] = (),
            cc: typing.Optional[str] = None, frameworks: typing.Union[str, typing.Iterable[str]] = (),
            cache: typing.Union[str, "os.PathLike[str]", None] = None) -> types.ModuleType:
    """The module of a program: see docs/python.md of tkc for what it has.

    source: path of a .tk file, or the text of a program (anything with a line break, or that is no path to a .tk).
    name: of the module, for a text: else "kernels". real: "f32" or "f64". debug: checks of bounds, assertions and races.
    defines: {"N": 3}, other values of consts. include: folders for imports. frameworks: ("torch", "jax") for functions of tensors.
    cc: a C compiler with its flags, "clang -march=native"; else $TKC_CC, clang, gcc or cc.
    cache: a folder; else $TKC_CACHE, else tkc below the user's folder of caches. What was compiled is found there again as
    long as program, imports, options, tkc and C compiler are the same. Several processes may use it at a time."""
    command = _find_compiler(cc)
    options = [f"--real={real}", *(["--debug"] if debug else [])]
    options += [x for key, value in (defines or {}).items() for x in ("-D", f"{key}={_literal(value)}")]
    options += [x for folder in include for x in ("-I", os.path.abspath(folder))]
    frameworks = [frameworks] if isinstance(frameworks, str) else list(frameworks)
    python = f"--python={','.join(frameworks)}" if frameworks else "--python"
    with tempfile.TemporaryDirectory(prefix="tkc-") as temporary:
        made = Path(temporary)
        path, name = _source(source, name, made)
        if _is_text(source):
            options += ["-I", os.getcwd()]
        if name != path.stem:
            options.append(f"--prefix={name}")
        key = _key(path, name, options, python, command, made)
        folder = _folder(cache) / f"{name}-{key}"
        with _lock:
            if str(folder) not in _loaded:
                if not _is_whole(folder, name):
                    _fill(folder, path, name, options, python, command, made)
                try:
                    _loaded[str(folder)] = _load(folder, name, key)
                except OSError:  # another process deletes it meanwhile
                    _fill(folder, path, name, options, python, command, made)
                    _loaded[str(folder)] = _load(folder, name, key)
            return _loaded[str(folder)]


def _literal(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_text(source):
    return isinstance(source, str) and ("\n" in source or not source.endswith(".tk"))


def _source(source, name, made):
    """The file, and the module's name. The text of a program becomes a file for as long as it is compiled."""
    if name is not None and not re.fullmatch(r"\w[-\w ]*", name):
        raise ValueError(f"{name!r} is no name of a module")
    if not _is_text(source):
        path = Path(source).absolute()
        return path, name or path.stem
    name = name or "kernels"
    path = Path(f"{name}.tk")  # tkc runs in the folder
    (made / path).write_text(source, encoding="utf-8")
    return path, name


def _find_compiler(cc):
    cc = (cc or "").strip() or os.environ.get("TKC_CC", "").strip()
    if cc:
        if not shutil.which(cc.split()[0]):
            raise NoCompiler(f"there is no C compiler {cc.split()[0]!r}")
        return cc
    found = next((c for c in ("clang", "gcc", "cc") if shutil.which(c)), None)
    if not found:
        raise NoCompiler("tkc.compile needs a C compiler at run time, and there is none on the PATH: install clang or gcc, or name one (cc=..., or TKC_CC)")
    return found


def _run(arguments, made):
    """tkc, whose errors are an exception, and whose warnings are Python's."""
    def tkc(form):
        return subprocess.run([str(_TKC), *map(str, arguments), f"--diagnostics={form}"], capture_output=True, text=True, errors="replace", cwd=made)
    r = tkc("json")
    told = []
    with contextlib.suppress(ValueError):  # behind what a C compiler says
        told = json.loads(r.stderr[r.stderr.rindex("\n[\n") if "\n[\n" in r.stderr else 0:])
    if r.returncode:
        raise CompileError(tkc("text").stderr.strip() or f"tkc ended with status {r.returncode}", told)
    return told


def _key(path, name, options, python, command, made):
    """What decides what is compiled: all that tkc generates, so imports and options are in it, and the tools."""
    told = _run([path, *options, "-o", made / f"{name}.c"], made)
    for d in told:
        if d.get("severity") == "warning":
            warnings.warn(f"{Path(d.get('file') or path).name}:{d.get('line')}: {d.get('message')}", TkcWarning, stacklevel=4)
    compiler = Path(shutil.which(command.split()[0])).resolve()
    parts = [(made / f"{name}{end}").read_bytes() for end in (".c", ".h")]
    kept = [x for before, x in zip(["", *options], options) if "-I" not in (before, x)]  # the text has what is imported, wherever it lay
    parts += [repr((kept, python, command, str(_ROOT), sys.platform)).encode()]
    for tool in (compiler, _TKC, _ROOT / "lib" / "libtkc.so"):
        status = tool.stat()
        parts.append(repr((str(tool), status.st_size, status.st_mtime_ns)).encode())
    if "native" in command:
        with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as f:
            parts.append(next((line for line in f if line.startswith("flags")), "").encode())
    h = hashlib.sha256()
    for p in parts:
        h.update(len(p).to_bytes(8, "little") + p)
    return h.hexdigest()[:32]


def _folder(cache):
    """Nobody else may put libraries there."""
    folder = cache or os.environ.get("TKC_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tkc"
    folder = Path(folder).absolute()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user")
    return folder


def _files(name):
    return f"lib{name}.so", f"{name}.py"


def _is_whole(folder, name):
    return all((folder / file).is_file() for file in _files(name))


def _fill(folder, path, name, options, python, command, made):
    """Compiled apart, and moved into its place at once: of several processes one is the first, and the others take what it has.
    Where a part of it was deleted, the files are moved one by one."""
    apart = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    try:
        _run([path, *options, python, f"--cc={command}", "-o", apart / f"{name}.py"], made)
        try:
            os.rename(apart, folder)
        except OSError:
            if not folder.is_dir():
                raise
            if not _is_whole(folder, name):
                for file in _files(name):
                    os.replace(apart / file, folder / file)
    finally:
        shutil.rmtree(apart, ignore_errors=True)


def _load(folder, name, key):
    whole = f"tkc_{name}_{key[:8]}"
    spec = importlib.util.spec_from_file_location(whole, folder / f"{name}.py")
    assert spec and spec.loader
    module = sys.modules[whole] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[whole]
        raise
    return module


def load_ipython_extension(ipython: typing.Any) -> None:
    """Called by `%load_ext tkc`: adds the magic %%tk."""
    from . import notebook  # IPython and Pygments are there
    notebook.load(ipython)


def _main() -> None:
    os.execv(_TKC, ["tkc", *sys.argv[1:]])
