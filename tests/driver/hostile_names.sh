# Names of files that mean something to C, Python, make or JSON: the files that tkc writes are those of another name but for strings and comments.
# inputs: runtime compiler
python3 - <<'P'
import ast, json, os, re, subprocess
TKC, CC, CXX, INCLUDE = (os.environ[k] for k in ("TKC", "CC", "CXX", "INCLUDE"))
MAIN = """import "%s";
param N: i32 = 4;
field x: real[N] needs_grad;
/// A kernel.
kernel k() { for i in x { assert(x[i] < 3.0, "low"); print("x", x[i]); x[i] = twice(x[i]); } }
kernel odd(t: i32) { x[t] += 1.0; }
/// A function.
export func f(a: real) -> real { return twice(a); }
"""
NAMES = [b'a"b', b"a'b", b"a\\b", b"a\nb", b"a\tb", b"a\rb", b"a b", b"a$b$(x)${y}", b"a#b", b"a*b*", b"a%sb%n", b"a;b", b"a|b", b"a:b", b"a??=b", b"a\xc3\xa9b",
         b"a\xffb", b'a"""b', b"a\n#line @\n", b"a\x01\x7fb", b"-a", b"a\\", b"a&b<c>", b'");import os;("', b"a=b", b"a*\n", b"a\\ \\\\ b\\", b"~a[b]{c}"]

def run(*args, cwd=None, status=0):
    ended = subprocess.run([a if isinstance(a, bytes) else str(a).encode() for a in args], capture_output=True, cwd=cwd)
    assert status is None or ended.returncode == status, (args, ended)
    return ended

def python_code(text):
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(tree)

def c_code(file, cwd):
    text = run(CC, "-std=c11", "-E", "-P", "-I", INCLUDE, file, cwd=cwd).stdout
    return re.sub(rb'"(?:[^"\\\n]|\\.)*"', b'""', text)

def written(folder, name):
    """What tkc writes of a program whose files have such a name, without its strings and comments."""
    os.mkdir(folder)
    main, other = b"./" + name + b".tk", b"other" + name + b".tk"
    spelled = other.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n").replace(b"\t", b"\\t")
    spelled = None if re.search(rb"[\r\x01\x7f\xff]", other) else spelled    # a source has no such bytes
    open(folder + b"/" + main, "wb").write(MAIN.encode() % (spelled or b"other.tk"))
    open(folder + b"/" + (other if spelled else b"other.tk"), "w").write("func twice(a: real) -> real { return 2.0 * a; }\n")
    run(TKC, main, "--prefix=p", "--python", f"--cc={CC} -I{INCLUDE}", "-o", "p.py", cwd=folder)
    codes = [python_code(open(folder + b"/p.py", "rb").read())]
    for flags in (["--debug", "-g"], []):
        run(TKC, main, "--prefix=p", *flags, "-o", "p.c", cwd=folder)
        run(CC, "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-trigraphs", "-I", INCLUDE, "-fsyntax-only", "p.c", cwd=folder)
        run(CXX, "-Wall", "-Wextra", "-Werror", "-Wno-trigraphs", "-I", INCLUDE, "-fsyntax-only", "-include", "p.h", "-x", "c++", os.devnull, cwd=folder)
        codes.append(c_code("p.c", folder))
    open(folder + b"/bad" + name + b".tk", "w").write("field x: rael;\n")
    said = json.loads(run(TKC, b"./bad" + name + b".tk", "--prefix=p", "--diagnostics=json", cwd=folder, status=1).stderr)
    assert said[0]["file"] == "./bad" + name.decode(errors="replace") + ".tk", said
    return codes

usual = written(b"usual", b"a")
for i, name in enumerate(NAMES):
    assert written(b"c%d" % i, name) == usual, name

# names of what is written
for i, name in enumerate(NAMES):
    folder = b"o%d" % i
    os.mkdir(folder)
    open(folder + b"/m.tk", "w").write("export func f(a: real) -> real { return a; }\n")
    run(TKC, "m.tk", "--python", f"--cc={CC} -I{INCLUDE}", "-o", b"./" + name + b".py", cwd=folder)
    tree = ast.parse(open(folder + b"/" + name + b".py", "rb").read())
    library, = [n.args[0].value for n in ast.walk(tree) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "_load"]
    assert os.path.exists(folder + b"/" + os.fsencode(library)), name
    status = run(TKC, "m.tk", "-o", b"./" + name + b".c", cwd=folder, status=None).returncode
    included = not re.search(rb'["\\\x00-\x1f\x7f]|\?\?', name)
    assert status == (0 if included else 1) and os.path.exists(folder + b"/" + name + b".c") == included, name
    if included:
        run(CC, "-std=c11", "-Werror", "-I", INCLUDE, "-fsyntax-only", b"./" + name + b".c", cwd=folder)
    run(TKC, "m.tk", "-o", b"./" + name + b".c", "--header=m.h", cwd=folder)

# rules of make, as make and ninja read them: up to date, and out of date when an import is newer
def is_current(tool, folder):
    if tool == "make":
        status = run("make", "-rR", "-q", "-f", "rules", cwd=folder, status=None).returncode
        assert status in (0, 1), folder
        return status == 0
    return b"no work to do" in run("ninja", "-n", cwd=folder).stdout

def depends(tool, target, imported):
    folder = b"d%d" % len(os.listdir("."))
    os.mkdir(folder)
    spelled = imported.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n").replace(b"\t", b"\\t")
    open(folder + b"/m.tk", "wb").write(b'import "%s";\n' % spelled)
    open(folder + b"/" + imported, "w").close()
    target = b"./" + target + b".c"
    ended = run(TKC, "m.tk", "-o", target, "--header=m.h", "-MD", "-MF", "d", cwd=folder, status=None)
    if ended.returncode:
        assert b"no rule of make can name" in ended.stderr and not os.path.exists(folder + b"/" + target), ended
        return "refused"
    rules = open(folder + b"/d", "rb").read().split(b"\n")
    if tool == "make":
        open(folder + b"/rules", "wb").write(b"\n".join([rules[0], b"\t@true", *rules[1:]]))
    else:
        quoted = re.sub(rb"[$ :]", rb"$\g<0>", target)
        open(folder + b"/build.ninja", "wb").write(b"rule r\n  command = cp saved d\n  depfile = d\nbuild " + quoted + b": r\n")
        os.rename(folder + b"/d", folder + b"/saved")
        os.utime(folder + b"/" + target)
        run("ninja", cwd=folder)
    os.utime(folder + b"/" + imported, (1e9, 1e9))
    if tool == "make":
        os.utime(folder + b"/m.tk", (1e9, 1e9))
    if not is_current(tool, folder):
        return "stale"
    os.utime(folder + b"/" + imported, (4e9, 4e9))
    return "stale" if is_current(tool, folder) else "right"

BOTH = [b"a", b"a b", b" a", b"a#b", b"a$b", b"a:b", b"a\\b", b"a\\ b", b"a\\\\ b", b"a(b)", b"a{b}", b"a[b", b"a~b", b"a!b", b"a,b", b"a@b", b"a+b", b"a\xc3\xa9b"]
for name in BOTH:
    for tool in ("make", "ninja"):
        assert depends(tool, name, b"i.tk") == "right", (tool, name)
        assert depends(tool, b"t", name + b".tk") == "right", (tool, name)
for name in (b"a;b", b"a\nb"):
    assert depends("make", name, b"i.tk") == depends("make", b"t", name) == "refused", name
assert depends("make", b"a\tb", b"i.tk") == depends("make", b"t", b"a\\") == "refused"
for name in (b"a|b", b'a"b', b"a'b", b"a*b", b"a?b", b"a<b>", b"a&b", b"a^b", b"a`b"):
    assert depends("make", name, b"i.tk") == depends("make", b"t", name + b".tk") == "right", name
assert depends("make", b"t", b"a\tb.tk") == "right"
for name in (b"a=b", b"a%b"):
    assert depends("ninja", name, b"i.tk") == depends("ninja", b"t", name + b".tk") == "right", name
P
