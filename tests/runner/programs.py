"""Cases whose generated C is compiled and run."""
import itertools
import re
import sys
import threading
import types

from compile import RACE, generate, link, link_checker, race_library, small_chunks
from plan import TESTS, Failure, all_directives, beside, directive, must, silent

NO_LEAKS = {"ASAN_OPTIONS": "detect_leaks=0"}
STUB = threading.Lock()


def some(plan, choices):
    """With a short configuration, the first of them."""
    return choices[:1] if plan.config.short else choices


def printed(plan, expected, cmd):
    """A check: the command ends with status 0 and prints a file's text, if there is the file."""
    plan.expects(expected)

    def check(status, out, err):
        must(cmd, status, out, err)
        if expected.exists():
            plan.compare(expected, out)
    return check


def program(plan, tk):
    """run/X.tk + X.c or X.cpp: the host program ends with status 0, and prints X.out where there is one."""
    host = next((h for h in (tk.with_suffix(".c"), tk.with_suffix(".cpp")) if h.exists()), None)
    threads = directive(tk, "threads") or ["1", "4"]
    compiled = [] if plan.config.sanitize else some(plan, all_directives(tk, "compiled"))
    every = some(plan, all_directives(tk, "flags")) or [[]]
    # Further flags give the same loops, in another precision or with checks: not with each compiler's flags once more, and optimised less.
    for flags, more in itertools.chain(itertools.product(every[:1], compiled or [[]]), itertools.product(every[1:], compiled[:2] or [[]])):
        folder = plan.new_folder()
        objects = [generate(plan, tk, flags, folder, compiled=more, level="-O2" if flags is every[0] else "-O1")]
        if not host:
            continue
        for other in all_directives(host, "module"):
            objects.append(generate(plan, tk.parent / other[0], other[1:], folder))
        libraries = [None, small_chunks(plan.config)] if directive(tk, "pieces") == ["small"] else [None]
        for exe in [link(plan, host, objects, folder, library) for library in libraries]:
            for n in threads:
                plan.later([exe], cwd=tk.parent, env={"OMP_NUM_THREADS": n}, check=printed(plan, tk.with_suffix(".out"), [exe]))


def derivatives(plan, tk):
    """ad/X.tk: every kernel of the module has right derivatives, says tools/adcheck; `// range: LO HI` for the data; X.c has its extern funcs."""
    folder = plan.new_folder()
    adcheck(plan, tk, generate(plan, tk, directive(tk, "flags"), folder), folder)


def adcheck(plan, tk, obj, folder):
    name, stub = tk.stem, folder / "stub.c"
    stub.write_text(f"""#include "{name}.h"
tk_module *adcheck_create(tk_session *s);
void adcheck_destroy(tk_module *m);
tk_module *adcheck_create(tk_session *s) {{ {name} *m = {name}_create(s, NULL); return m ? &m->tk : NULL; }}
void adcheck_destroy(tk_module *m) {{ {name}_destroy(({name} *)m); }}
""")
    exe = link_checker(plan, ["adcheck"], stub, [obj, *beside(tk)], folder)
    plan.later([exe, *directive(tk, "range")], env=NO_LEAKS, check=silent)


def algorithm(plan, tk):
    """algorithms/X.tk: tools/adcheck finds the derivatives of its kernels right on random data and on lattices, with 1 and 3 threads and a library that splits
    the smallest loops. `// data: LO HI NAME LO HI ...` has the ranges of the fields' data, `// random: NAME ...` the fields that are never on a lattice,
    `// decides: NAME ...` those that may have no gradient, `// within: NAME ...` kernels that are checked within others only. X.c computes results in another way."""
    folder = plan.new_folder()
    obj, library, stub = generate(plan, tk, directive(tk, "flags") or ["--real=f64"], folder), small_chunks(plan.config), folder / "stub.c"
    stub.write_text(stub_of(tk))
    exe = link_checker(plan, ["adcheck", "addata"], stub, [obj], folder, library)
    ranges = [w for words in all_directives(tk, "data") for w in words] or ["0.3", "1.2"]
    for word in ("random", "decides", "within"):
        names = [w for words in all_directives(tk, word) for w in words]
        ranges += [word, *names] if names else []
    plan.later([exe, "--algorithm", "3", *ranges], env=NO_LEAKS, check=silent)
    if tk.with_suffix(".c").exists():
        host = link(plan, tk.with_suffix(".c"), [obj], folder, library)
        for n in ("1", "3"):
            plan.later([host], env={"OMP_NUM_THREADS": n})


def stub_of(tk):
    """The C that hands the kernels' arguments to tools/adcheck, as it is made for random programs."""
    with STUB:
        if str(TESTS / "random") not in sys.path:
            sys.path.append(str(TESTS / "random"))
        import stub
    text = tk.read_text()
    kernels, known = stub.read_kernels(text), re.findall(r"^(?:const|param) (\w+)", text, re.M)
    for p in [p for k in kernels for p in k.params]:
        p.dims = [d + "_" if d.isidentifier() and d not in known else d for d in p.dims]    # an underscore tells the stub that it is an argument
    return stub.stub(tk.stem, [types.SimpleNamespace(kernels=kernels)])


def exports(plan, tk):
    """export/X.tk: every export func has right derivatives, says tools/expcheck.c; `// range: LO HI` for the data, `// integer: 4` for integer arguments;
    `// kernels: yes`: its kernels as well; X.c has its extern funcs."""
    folder = plan.new_folder()
    obj, stub = generate(plan, tk, directive(tk, "flags") or ["--real=f64"], folder), folder / "stub.c"
    writer = [sys.executable, TESTS / "tools" / "exports.py", f"{folder}/{tk.stem}.h", *(directive(tk, "integer") or ["4"]), *(["--kernels"] if directive(tk, "kernels") else [])]
    status, out, err = plan.run(writer)
    must(writer, status, out, err)
    stub.write_text(out)
    exe = link_checker(plan, ["expcheck"], stub, [obj, *beside(tk)], folder)
    plan.later([exe, *directive(tk, "range")], check=silent)


def threads(plan, tk):
    """parallel/X.tk: X.explain is what --explain-adjoint says of it; tools/parcheck.c compares 1, 2, 4 and 7 threads at the sizes of `// sizes:` (param N) and
    prints X.out; tools/adcheck checks its derivatives."""
    every = all_directives(tk, "flags") or [[]]
    said = explained(plan, tk, every[0])
    plan.compare(tk.with_suffix(".explain"), said)
    sizes = plan.config.short and directive(tk, "race") or directive(tk, "sizes")
    for flags in some(plan, every)[:1 if plan.config.sanitize else None]:    # memory is the same in both precisions
        folder = plan.new_folder()
        obj = generate(plan, tk, flags, folder, level="-O1" if flags is every[0] else "-O0")
        expected = tk.with_suffix(".out") if sizes[-1] == directive(tk, "sizes")[-1] else None
        parcheck(plan, tk, obj, said, folder, None, small_chunks(plan.config), sizes, expected)
        if flags is every[0]:
            adcheck(plan, tk, obj, folder)


def race(plan, tk):
    """parallel/X.tk once more, with the thread sanitizer in the library, the module and the host; at the sizes of `// race:`, where there are many others."""
    library = race_library(plan.config)
    folder, sizes = plan.new_folder(), directive(tk, "race") or directive(tk, "sizes")
    obj = generate(plan, tk, directive(tk, "flags"), folder, RACE)
    parcheck(plan, tk, obj, explained(plan, tk, []), folder, RACE, library, ["--race", *sizes], None)


def explained(plan, tk, flags):
    status, out, err = plan.tkc([tk.name, "--explain-adjoint", *flags], tk.parent)
    must(["tkc", tk.name, "--explain-adjoint", *flags], status, out, err)
    return out + err


def parcheck(plan, tk, obj, said, folder, options, library, sizes, expected):
    name, stub = tk.stem, folder / "threads.c"
    stub.write_text(f"""#include "{name}.h"
tk_module *parcheck_create(tk_session *s, long size);
void parcheck_destroy(tk_module *m);
tk_module *parcheck_create(tk_session *s, long size)
{{
    {name}_params p = {name}_defaults();
    p.N = (int32_t)size;
    {name} *m = {name}_create(s, &p);
    return m ? &m->tk : NULL;
}}
void parcheck_destroy(tk_module *m) {{ {name}_destroy(({name} *)m); }}
""")
    exe = link_checker(plan, ["parcheck"], stub, [obj], folder, library, options)
    scatters, function = [], None
    for line in said.splitlines():
        if not line.startswith(" "):
            function = line
        elif ": scatter" in line:
            scatters.append(function)
    if expected:
        plan.expects(expected)

    def check(status, out, err):
        if status != 0:
            raise Failure(out[-3000:] + err[-3000:] or f"status {status}")
        if expected:
            plan.compare(expected, out)
    plan.later([exe, *sizes], env={"PARCHECK_SCATTERS": f" {' '.join(scatters)} "}, check=check)


def operations(plan, check):
    """The operation table, row by row: tools/optable.c writes the module, tools/opcheck.c checks it."""
    folder = plan.new_folder()
    tk = folder / "optable.tk"
    writer = [plan.config.build / "tests" / "tools" / "optable", tk, folder / "optable_rows.h"]
    must(writer, *plan.run(writer))
    plan.note(tk.read_text())
    exe = link(plan, check, [generate(plan, tk, ["--real=f64"], folder)], folder)
    plan.later([exe], check=silent)
