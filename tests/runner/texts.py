"""Cases of text: messages, trees, IR and explanations of tkc. They take no C compiler, and run each time."""
import re

from known import FILES, ROOT
from plan import TESTS, Failure, difference, directive, must


def diagnostics(plan, tk):
    """X.tk + X.diag: the messages of tkc. Without X.diag the module is accepted in silence."""
    folder = plan.new_folder()
    status, out, err = plan.run([plan.config.tkc, tk.name, "-o", folder / f"{tk.stem}.c", *directive(tk, "flags")], cwd=tk.parent)
    left = sorted(p.name for p in folder.iterdir())
    if out:
        raise Failure(f"prints on standard output:\n{out[:500]}")
    plan.compare(tk.with_suffix(".diag"), err)
    refused = bool(re.search(r"^(?:\S+: |\S+:\d+:\d+: )?error: ", err, re.M)) or '"severity":"error"' in err.replace(" ", "")
    if status != (1 if refused else 0):
        raise Failure(f"exit status {status}\n{err[:2000]}")
    if refused and left:
        raise Failure(f"left after an error: {left}")


def tree(plan, tk):
    """X.tk + X.ast or X.tokens: the output of --emit=ast or --emit=tokens, then the messages."""
    for kind in ("ast", "tokens"):
        expected = tk.with_suffix(f".{kind}")
        if expected.exists():
            _, out, err = plan.run([plan.config.tkc, tk.name, f"--emit={kind}"], cwd=tk.parent)
            plan.compare(expected, out + err)


def syntax(plan, tk):
    is_tree = tk.with_suffix(".ast").exists() or tk.with_suffix(".tokens").exists()
    (tree if is_tree else diagnostics)(plan, tk)


def said(plan, tk, options, expected):
    """The output of tkc for a module, then its messages, are a file's text."""
    cmd = [plan.config.tkc, tk.name, *options, *directive(tk, "flags")]
    status, out, err = plan.run(cmd, cwd=tk.parent)
    must(cmd, status, out, err)
    if not expected.exists() and not plan.config.update:
        raise Failure(f"{expected.name} is missing")
    plan.compare(expected, out + err)


def words(plan, tk):
    """explain/X.tk + X.words: the output of --explain."""
    said(plan, tk, ["--explain"], tk.with_suffix(".words"))


def plan(case, tk):
    """plan/X.tk + X.plan: the output of --emit=plan."""
    said(case, tk, ["--emit=plan"], tk.with_suffix(".plan"))


def behind(plan, tk):
    """passes/PASS/X.tk + X.out: the IR behind that pass of a whole module; in passes/all, the IR behind all passes."""
    options = ["--emit=ir"] if tk.parent.name == "all" else [f"--dump-after={tk.parent.name}", "-o", "/dev/null"]
    said(plan, tk, options, tk.with_suffix(".out"))


def one_pass(plan, ir):
    """passes/PASS/X.ir + X.out: the IR behind that pass alone, then the messages. Of not_X.ir, that is the IR as it was."""
    if not ir.read_text().startswith("; "):
        raise Failure("the first line does not say what the case shows")
    status, out, err = plan.run([plan.config.tkc, f"--run-pass={ir.parent.name}", ir.name], cwd=ir.parent)
    if "internal error" in err or "invalid IR" in err or status != (1 if "error: " in err else 0):
        raise Failure(f"status {status}\n{err[:2000]}")
    if not ir.with_suffix(".out").exists() and not plan.config.update:
        raise Failure(f"{ir.stem}.out is missing")
    plan.compare(ir.with_suffix(".out"), out + err)
    if ir.stem.startswith("not_"):
        cmd = [plan.config.tkc, "--run-pass=lower", ir.name]
        status, as_read, said = plan.run(cmd, cwd=ir.parent)
        must(cmd, status, as_read, said)
        if out + err != as_read:
            raise Failure("the pass did something")


def pass_table(plan, without):
    """Each row of the pipeline has five cases at least, one of which it leaves alone, or stands in passes/without.txt with a reason; never both."""
    cmd = [plan.config.tkc, "--list-passes"]
    status, out, err = plan.run(cmd)
    must(cmd, status, out, err)
    rows = [line.split()[0] for line in out.splitlines()][1:]
    excused = dict(line.split(None, 1) for line in without.read_text().splitlines() if line and not line.startswith("#"))
    folders = {p.name for p in without.parent.iterdir() if p.is_dir()} - {"all", "lower"}
    wrong = [f"{name}: no pass of that name" for name in {*excused, *folders} - set(rows)]
    for name in rows:
        cases = [p.stem for p in (without.parent / name).glob("*.ir")]
        if name in excused and cases:
            wrong.append(f"{name}: has cases, and stands in {without.name}")
        elif name not in excused and (len(cases) < 5 or not any(c.startswith("not_") for c in cases)):
            wrong.append(f"{name}: {len(cases)} cases, of five at least with one in which the pass does nothing (not_X.ir)")
    left = [str(o.relative_to(TESTS)) for o in without.parent.glob("*/*.out") if not o.with_suffix(".ir").exists() and not o.with_suffix(".tk").exists()]
    if wrong or left:
        raise Failure("\n".join(wrong + [f"{o} without its .ir or .tk" for o in left]))


def ir_text(plan, tk):
    """Printed IR is read as it was printed: with --check-ir-text each pass gets the IR that was read, and the generated C is the same. Known by what reads and prints."""
    plan.note(FILES.of(ROOT / "compiler" / "ir"), FILES.of(tk))
    command, said = [plan.config.tkc, tk.name, *directive(tk, "flags"), "--emit=c"], []

    def compare(*text):
        said.append(text)
        if len(said) == 2 and (said[0][1:] != said[1][1:] or not said[0][1]):
            raise Failure("other C, a message, or no C:\n" + difference(said[0][1] + said[0][2], said[1][1] + said[1][2], "plain"))
    plan.later(command, cwd=tk.parent, check=compare)
    plan.later([*command, "--check-ir-text"], cwd=tk.parent, check=compare)


def same_bytes(plan, what):
    """Two builds of tkc write the same C, header, IR and explanation for a program. Known by the sources of tkc."""
    tk, other = what
    plan.note(FILES.of(ROOT / "compiler"), FILES.of(ROOT / "grammar"), FILES.of(tk))
    plan.later(["sh", TESTS / "tools" / "same_bytes.sh", "--of", tk, plan.config.build, other])
