"""Renames, inlay hints, semantic tokens, folding, symbols of the folder, keywords, and the work of an edit: editing.py TKC ROOT FOLDER. The folder is for files on disk."""
import os
import sys

from client import Client, File, Gone
from long import long_text

PARTS = """/// One of them.
const METRE = 1.0;
struct Ball { pos: vec3, mass: real }
func half(a: real) -> real { return a / 2.0; }
func scaled(b, by) { let c = b * by; return half(c) + METRE; }
"""
MAIN = """import "parts.tk";
const WIDTH = 4 * 5;
param N: i32 = 100;
field x: real[N, WIDTH] needs_grad;
field balls: Ball[WIDTH];
field energy: real needs_grad;
field still: real[20];

kernel springs(k: real) {
    for i in range(N) {
        let d = x[i, 1] - x[i, 0];            // «grün» 𝛼 d
        let idle = still[1] * 2.0;
        energy += k * d * d + half(idle) + balls[3].mass;
    }
}

kernel move() derive() {
    for i in range(WIDTH) {
        var a: real[WIDTH];
        let d: real = 1.0;
        a[i] = d * METRE;
        balls[i].mass = a[i] + balls[i].pos.x;
    }
}
"""
LIB = """import "parts.tk" as lib;
field mass: real;
field halves: real;
kernel quarter() { mass = lib.half(lib.half(mass)) * lib.METRE; halves = lib.scaled(mass, 2.0); }
"""


def expect(what, *want):
    for w in want:
        assert what is not None and w in what, f"{w!r} is not in {what!r}"


class Session:
    def __init__(self, tkc, folder, **more):
        self.folder = os.path.realpath(folder)
        for name, text in (("parts.tk", PARTS), ("main.tk", MAIN), ("lib.tk", LIB)):
            self.write(name, text)
        root = "file://" + self.folder
        self.c = Client(tkc, start=False, **more)
        self.c.ask("initialize", {"rootUri": root, "workspaceFolders": [{"uri": root, "name": "work"}], "capabilities": {}})
        self.c.tell("initialized", {})

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as f:
            f.write(text)

    def uri(self, name):
        return "file://" + os.path.join(self.folder, name)

    def open(self, name, text):
        return File(self.c, self.uri(name), text)

    def refused(self, f, cursor, name, nth=0):
        m = self.c.reply(self.c.post("textDocument/rename", {**f.at(cursor, nth), "newName": name}))
        assert "error" in m and m["error"]["code"] == -32803, m
        return m["error"]["message"]

    def renamed(self, f, cursor, name, nth=0, **texts):
        """The texts of the files once the edits are done, and how many there are."""
        changes = f.ask("rename", cursor, nth, newName=name)["changes"]
        texts, n = {"main": MAIN, "parts": PARTS, "lib": LIB, **texts}, 0
        for uri, edits in changes.items():
            key = os.path.basename(uri)[:-3]
            assert uri == self.uri(key + ".tk"), uri
            assert len({str(e["range"]) for e in edits}) == len(edits), edits
            one = File.__new__(File)
            one.text, one.wide = texts[key], True
            one.apply(edits)
            texts[key] = one.text
            n += len(edits)
        return texts, n


# ---- renames ----

def rename_locals(s):
    f = s.open("main.tk", MAIN)
    texts, n = s.renamed(f, "k * |d * d", "gap")
    assert n == 3 and texts["main"] == MAIN.replace("let d = ", "let gap = ").replace("k * d * d", "k * gap * gap"), texts["main"]
    texts, n = s.renamed(f, "let |d: real", "gap")
    assert n == 2 and texts["main"] == MAIN.replace("let d: real", "let gap: real").replace("= d * METRE", "= gap * METRE"), texts["main"]
    texts, n = s.renamed(f, "(|k: real", "stiffness")
    assert n == 2 and "springs(stiffness: real)" in texts["main"] and "stiffness * d" in texts["main"]
    texts, n = s.renamed(f, "x[|i, 1]", "row")
    assert n == 3 and "for row in range(N)" in texts["main"] and "x[row, 1] - x[row, 0]" in texts["main"]
    where = f.ask("prepareRename", "k * |d * d")
    assert where["placeholder"] == "d" and f.said(where["range"]) == "d", where
    f.close()


def rename_items(s):
    f = s.open("main.tk", MAIN)
    texts, n = s.renamed(f, "|x[i, 1]", "places")
    assert n == 3 and "field places: real[N, WIDTH]" in texts["main"] and "pos.x" in texts["main"]
    texts, n = s.renamed(f, "param |N", "COUNT")
    assert n == 3 and "param COUNT: i32" in texts["main"] and "real[COUNT, WIDTH]" in texts["main"] and "range(COUNT)" in texts["main"]
    texts, n = s.renamed(f, "kernel |springs", "pull")
    assert n == 1 and "kernel pull(k" in texts["main"]
    # through all files that import it, under a name as well, open or not
    texts, n = s.renamed(f, "|half(idle)", "halved")
    assert n == 5, n
    assert "func halved(a: real)" in texts["parts"] and "return halved(c)" in texts["parts"] and "+ halved(idle)" in texts["main"]
    assert "lib.halved(lib.halved(mass))" in texts["lib"] and "halves" in texts["lib"]
    texts, n = s.renamed(f, "d * MET|RE", "UNIT")
    assert n == 4 and "const UNIT = 1.0" in texts["parts"] and "lib.UNIT;" in texts["lib"] and "half(c) + UNIT" in texts["parts"]
    f.close()
    # from the file that declares it, with another one open and not saved
    p = s.open("parts.tk", PARTS)
    f = s.open("main.tk", MAIN.replace("half(idle)", "half(half(idle))"))
    texts, n = s.renamed(p, "func |half", "halved", main=f.text)
    assert n == 6 and "halved(halved(idle))" in texts["main"], (n, texts)
    # in a function that nothing but an importer calls
    texts, n = s.renamed(p, "let |c = b", "product", main=f.text)
    assert n == 2 and "let product = b * by; return half(product)" in texts["parts"]
    texts, n = s.renamed(p, "(|b, by", "value", main=f.text)
    assert n == 2 and "scaled(value, by) { let c = value * by" in texts["parts"]
    p.close()
    f.close()
    f = s.open("lib.tk", LIB)
    texts, n = s.renamed(f, "as |lib", "parts")
    assert n == 5 and texts["lib"] == LIB.replace("lib", "parts"), texts["lib"]
    f.close()


def rename_members(s):
    f = s.open("main.tk", MAIN)
    texts, n = s.renamed(f, "balls[3].|mass", "weight")
    assert n == 3 and "pos: vec3, weight: real" in texts["parts"] and "balls[3].weight" in texts["main"] and "balls[i].weight" in texts["main"] and texts["lib"] == LIB
    where = f.ask("definition", "balls[3].|mass")
    assert where["uri"] == s.uri("parts.tk") and where["range"]["start"] == {"line": 2, "character": 25}, where
    assert len(f.ask("references", "balls[3].|mass", context={"includeDeclaration": True})) == 3
    texts, n = s.renamed(f, "field balls: |Ball", "Body")
    assert n == 2 and "struct Body" in texts["parts"] and "field balls: Body[" in texts["main"]
    f.close()


def rename_refused(s):
    f = s.open("main.tk", MAIN)
    for name in "for", "f32", "limit", "needs_grad":
        expect(s.refused(f, "k * |d * d", name), f"'{name}' is a word of the language")
    for name in "sin", "norm", "atomic_add":
        expect(s.refused(f, "k * |d * d", name), f"'{name}' is a built-in function")
    for name in "", "1a", "a b", "a.b", "grün", "a-b":
        expect(s.refused(f, "k * |d * d", name), f"'{name}' is not a name")
    # what would capture, be captured, or be declared twice
    expect(s.refused(f, "k * |d * d", "idle"), "does not fit")
    expect(s.refused(f, "k * |d * d", "k"), "would mean something else in line")
    expect(s.refused(f, "k * |d * d", "energy"), "does not fit")
    expect(s.refused(f, "|k * d", "d"), "would mean something else")
    expect(s.refused(f, "x[|i, 1]", "x"), "does not fit")
    expect(s.refused(f, "|half(idle)", "idle"), "does not fit")
    expect(s.refused(f, "|energy +=", "d"), "does not fit")
    expect(s.refused(f, "d * MET|RE", "d"), "would mean something else in line 21 of", "main.tk")
    expect(s.refused(f, "|energy +=", "x"), "declared twice")
    expect(s.refused(f, "balls[3].|mass", "pos"), "does not fit")
    expect(s.refused(f, "balls[3].|mass", "grad"), "does not fit")
    expect(s.refused(f, "field |x: real", "x__y"), "does not fit: 'x__y' cannot be a name")
    # what has no name that could change
    expect(s.refused(f, "|for i in range(N)", "a"), "'for' is a word of the language")
    expect(s.refused(f, "for i in ra|nge(N)", "a"), "'range' is a word of the language")
    expect(s.refused(f, "balls[i].pos.|x", "a"), "'x' is built in")
    expect(s.refused(f, "// «gr|ün", "a"), "there is no name here")
    expect(s.refused(f, "* 2.|0", "a"), "there is no name here")
    assert s.c.refused("textDocument/prepareRename", f.at("|for i in range(N)")) == -32803
    f.replace("* METRE;", "* METER;")
    expect(s.refused(f, "k * |d * d", "gap"), "the file has errors")
    f.close()
    s.write("broken.tk", 'import "parts.tk";\nfield a: real;\nkernel k() { a = half(METER); }\n')
    f = s.open("main.tk", MAIN)
    expect(s.refused(f, "|half(idle)", "halved"), "broken.tk imports", "has errors")
    assert s.renamed(f, "k * |d * d", "gap")[1] == 3        # a local concerns no other file
    s.write("broken.tk", 'import "parts.tk"\nkernel k( {')
    expect(s.refused(f, "|half(idle)", "halved"), "broken.tk imports", "has errors")
    os.unlink(os.path.join(s.folder, "broken.tk"))
    f.close()


def rename_said_again(s):
    """Names that the checker reads without a look at them, and names of several kernels at one place."""
    text = """field x: real[4];
field n: i32;
kernel count(to, k: i32) { to = k; }
kernel count_a = count(n);
kernel count_b = count(n, 10);
export func top(a: in real[m], b: out real[m]) -> real { for i in range(m) { b[i] = a[i]; } return b[0]; }
kernel least() {
    var lo = 1.0;
    for i in x { lo = min(lo, x[i]); }
    n = i32(lo);
}
"""
    f = s.open("again.tk", text)
    assert f.diagnostics() == []
    for cursor, new, n, want in (("kernel |count(", "number", 3, "= number(n, 10)"), ("to, |k", "value", 2, "value: i32) { to = value; }"), ("(|to", "place", 2, "count(place, k: i32) { place = k; }"),
                                 ("real[|m]", "size", 3, "(a: in real[size], b: out real[size]) -> real { for i in range(size)"), ("min(|lo", "least_of_all", 4, "least_of_all = min(least_of_all, x[i])")):
        texts, edits = s.renamed(f, cursor, new, again=text)
        assert edits == n and want in texts["again"], (cursor, edits, texts["again"])
    f.close()
    text = "struct P { low: real, high: real }\nfield x: real[4];\nfield n: real;\nkernel k() { var p = P(1.0, 0.0); for i in x { p.low = min(x[i], p.low); } n = p.low; }\n"
    f = s.open("again.tk", text)
    assert f.diagnostics() == []
    texts, edits = s.renamed(f, "struct P { |low", "least", again=text)
    assert edits == 4 and "p.least = min(x[i], p.least)" in texts["again"], texts["again"]
    f.close()
    # a function with the name of a built-in one, which other files go on calling
    s.write("calls.tk", "func by_built_in(x) { return max(x, 7.0); }\n")
    text = 'import "calls.tk";\nfield y: real;\nfunc max(a, b) { return a * b; }\nfunc unused(a) { return max(a, a); }\nkernel k() { y = max(by_built_in(y), 2.0); }\n'
    f = s.open("hides.tk", text)
    assert f.diagnostics() == []
    texts, edits = s.renamed(f, "func |max", "product", hides=text)
    assert edits == 3 and texts["hides"] == text.replace("max(", "product("), texts
    f.close()
    os.unlink(os.path.join(s.folder, "calls.tk"))


def rename_unchecked(s):
    """In code that nothing calls there are no types."""
    text = """struct P { mass: real }
field d: real;
field p: P;
func idle(a) { return a.mass * d; }
func other(d) { return d * d; }
func third(a) { let d = a * 2.0; return d; }
kernel k() { d = p.mass; }
"""
    f = s.open("alone.tk", text)
    assert f.diagnostics() == []
    expect(s.refused(f, "func idle(|a", "b"), "the meaning of 'a' is unknown")
    expect(s.refused(f, "p.|mass", "weight"), "line 4 of", "says 'mass' in code that nothing calls")
    expect(s.refused(f, "field |d", "e"), "line 6 of", "says 'd' in code that nothing calls")
    f.set(text.replace("let d = a * 2.0; return d;", "return a;"))
    texts, n = s.renamed(f, "field |d", "e", alone=f.text)
    assert n == 3 and texts["alone"] == f.text.replace("field d", "field e").replace("a.mass * d", "a.mass * e").replace("{ d = p.mass", "{ e = p.mass"), texts["alone"]
    texts, n = s.renamed(f, "func |other", "another", alone=f.text)
    assert n == 1 and "func another(d)" in texts["alone"]
    expect(s.refused(f, "field |d", "a"), "says 'd' in code that nothing calls")
    f.set("const ON = false;\nfield x: real;\nkernel k() { let a = x; static if ON { x = a; } x = 1.0; }\n")
    expect(s.refused(f, "let |a", "b"), "line 3 of")
    f.close()


# ---- what stands in the text ----

def tokens_of(f, legend):
    data, line, column, out = f.ask("semanticTokens/full")["data"], 0, 0, []
    assert len(data) % 5 == 0
    lines = f.text.split("\n")
    for k in range(0, len(data), 5):
        down, right, n, kind, modifiers = data[k:k + 5]
        line, column = line + down, right if down else column + right
        text = lines[line].encode("utf-16-le")[2 * column:2 * (column + n)].decode("utf-16-le")
        out.append((line + 1, text, legend["tokenTypes"][kind], {m for i, m in enumerate(legend["tokenModifiers"]) if modifiers >> i & 1}))
    return out


def tokens(s):
    legend = {"tokenTypes": ["namespace", "struct", "function", "variable", "parameter", "property"], "tokenModifiers": ["declaration", "readonly", "defaultLibrary", "active"]}
    f = s.open("main.tk", MAIN.replace("let idle", "/* 𝛼 */ let idle"))
    have = tokens_of(f, legend)
    for want in ((2, "WIDTH", "variable", {"declaration", "readonly"}), (3, "N", "variable", {"declaration", "readonly"}), (4, "x", "variable", {"declaration", "active"}), (5, "Ball", "struct", set()),
                 (9, "springs", "function", {"declaration"}), (9, "k", "parameter", {"declaration"}), (11, "d", "variable", {"declaration", "readonly"}), (12, "idle", "variable", {"declaration", "readonly"}),
                 (13, "mass", "property", set()), (13, "half", "function", set()), (13, "energy", "variable", {"active"}), (22, "x", "property", {"defaultLibrary"}), (7, "still", "variable", {"declaration"})):
        assert want in have, (want, have)
    f.replace("k * d", "k * = d")                           # of the last text without errors
    assert f.diagnostics() and (13, "half", "function", set()) in tokens_of(f, legend)
    f.close()
    f = s.open("lib.tk", LIB)
    have = tokens_of(f, legend)
    assert (4, "lib", "namespace", set()) in have and (4, "half", "function", set()) in have, have
    f.set("")
    assert tokens_of(f, legend) == []
    f.set("kernel ( {")
    assert tokens_of(f, legend) == []
    f.close()


def hints_of(s, f, first=0, last=10**6):
    where = {"start": {"line": first, "character": 0}, "end": {"line": last, "character": 0}}
    return [(h["position"]["line"] + 1, f.text[:f.offset(h["position"])].split()[-1], h["label"]) for h in f.ask("inlayHint", range=where)]


def hints(s):
    f = s.open("main.tk", MAIN)
    have = hints_of(s, f)
    assert have == [(4, "WIDTH", " = 20"), (5, "Ball[WIDTH", " = 20"), (11, "d", ": f32, active"), (12, "idle", ": f32"), (19, "real[WIDTH", " = 20")], have
    assert [h[0] for h in hints_of(s, f, 10, 11)] == [11]
    f.replace("let d = x", "let d: real = x")
    assert (11, "d", " active") in hints_of(s, f)
    f.replace("let d: real = x", "let d = x")
    f.replace("let idle", "let more = ;\n        let idle")  # where they stand now
    assert f.diagnostics()
    assert (13, "idle", ": f32") in hints_of(s, f), hints_of(s, f)
    f.set("field e: real needs_grad;\nfunc twice(a) { let b = a + a; return b; }\nkernel k() { var v = vec2(1.0, 2.0); e = twice(v).x; }\n")
    assert hints_of(s, f) == [(2, "b", ": vec2"), (3, "v", ": vec2")], hints_of(s, f)
    f.replace("twice(v).x", "twice(v).x + twice(1.0)")       # two types: none of them
    assert [h[1] for h in hints_of(s, f)] == ["v"]
    f.set("let")
    f.diagnostics()
    f.close()


def folding(s):
    text = """import "parts.tk";
import "parts.tk" as lib;
// one
// two

/* three
   "{" */
struct Ball {
    pos: vec3,
}
kernel k() {
    if true { /* { */
        print("}", 1);     // {
    } else {
        print("b");
    }
}
"""
    f = s.open("fold.tk", text)
    have = [(r["startLine"] + 1, r["endLine"] + 1, r.get("kind")) for r in f.ask("foldingRange")]
    assert sorted(have, key=str) == sorted([(1, 2, "imports"), (3, 4, "comment"), (6, 7, "comment"), (8, 9, None), (11, 16, None), (12, 13, None), (14, 15, None)], key=str), have
    f.set("}}} kernel k() {\n{\n\n/* open\n")
    assert [(r["startLine"], r["endLine"]) for r in f.ask("foldingRange")] == [(3, 4)], f.ask("foldingRange")
    f.set("")
    assert f.ask("foldingRange") == []
    f.close()


def symbols(s):
    os.makedirs(os.path.join(s.folder, "deep/.hidden"), exist_ok=True)
    s.write("deep/more.tk", "field half_way: real;\n")
    s.write("deep/.hidden/none.tk", "field half_none: real;\n")
    s.write("deep/broken.tk", "field half_done: real;\nkernel (\n")
    os.symlink(s.folder, os.path.join(s.folder, "deep/circle"))
    f = s.open("main.tk", MAIN + "func halving(a: real) -> real { return a; }\n")
    found = s.c.ask("workspace/symbol", {"query": "HALF"})
    names = [(t["name"], t["containerName"]) for t in found]
    assert sorted(names) == [("half", "parts.tk"), ("half_done", "broken.tk"), ("half_way", "more.tk")], names
    half = next(t for t in found if t["name"] == "half")
    assert half["location"] == {"uri": s.uri("parts.tk"), "range": {"start": {"line": 3, "character": 5}, "end": {"line": 3, "character": 9}}} and half["kind"] == 12, half
    assert [t["name"] for t in s.c.ask("workspace/symbol", {"query": "hlvg"})] == ["halving"]
    assert len(s.c.ask("workspace/symbol", {"query": ""})) > 15 and s.c.ask("workspace/symbol", {"query": "zzz"}) == []
    f.close()
    for name in "deep/more.tk", "deep/broken.tk", "deep/circle":
        os.unlink(os.path.join(s.folder, name))


def keywords(s):
    f = s.open("main.tk", MAIN)
    expect(f.hover("|for i in range(N)"), "for i in range(n) { ... }")
    expect(f.hover("field x: re|al"), "the module's float")
    expect(f.hover("needs_gr|ad;"), "has a gradient", "the adjoint gives its gradient")
    expect(f.hover("|kernel springs"), "kernel name(parameters)")
    expect(f.hover("balls[3].|mass"), "balls[3].mass: f32", "A member of `Ball`")
    f.set("field limit_: real;\n// for the field\nkernel k() { print(\"for\"); }\n")
    assert f.hover("// f|or the") is None and f.hover('print("f|or') is None
    f.close()


# ---- work ----

def work(s, root):
    """A change of a correct text costs one run of the checker, whatever is asked then; the passes run once nobody types."""
    f = s.open("thousand.tk", long_text(root))
    assert f.text.count("\n") >= 1000 and f.diagnostics() == []
    n, before = 10, s.c.ask("tkc/work")
    with s.c.stopped():
        for k in range(n):
            f.replace("kernel ", "kernel  ") if k % 2 == 0 else f.replace("kernel  ", "kernel ")
            for method in "definition", "completion", "documentHighlight":
                last = s.c.post("textDocument/" + method, f.at("kernel|"))
            for method in "semanticTokens/full", "foldingRange", "documentSymbol":
                last = s.c.post("textDocument/" + method, {"textDocument": {"uri": f.uri}})
        s.c.post("tkc/work")
    s.c.reply(last)
    after = s.c.reply(s.c.number)["result"]
    assert after["checked"] - before["checked"] == n and after["compiled"] == before["compiled"], (before, after)
    assert f.diagnostics() == []
    after = s.c.ask("tkc/work")
    assert after["checked"] - before["checked"] == n and after["compiled"] - before["compiled"] == 1, (before, after)
    f.close()
    # the messages of passes come, too; those of the checker without the passes
    f = s.open("passes.tk", "field x: real[4] needs_grad;\nfield e: real needs_grad;\nkernel k() { for i in x { e += x[i] * x[i]; x[i] += e; } }\n")
    assert f.diagnostics()[0]["code"].startswith("E05")
    before = s.c.ask("tkc/work")
    f.set("field x: real = ;\n")
    assert f.diagnostics()
    f.set("field x: nothing;\n")
    assert f.diagnostics()
    assert s.c.ask("tkc/work")["compiled"] == before["compiled"]
    f.close()


def bad(s):
    f = s.open("main.tk", MAIN)
    far = {"textDocument": {"uri": f.uri}, "position": {"line": 10**9, "character": 10**9}}
    unknown = {"textDocument": {"uri": "file:///none.tk"}, "position": {"line": 0, "character": 0}, "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}, "newName": "a"}
    assert s.c.refused("textDocument/rename", {**far, "newName": "a"}) == -32803
    assert s.c.refused("textDocument/prepareRename", far) == -32803
    for method in "rename", "prepareRename", "inlayHint", "semanticTokens/full", "foldingRange":
        assert s.c.refused("textDocument/" + method, unknown) == -32602
        assert s.c.refused("textDocument/" + method, None) == -32602
    for name in None, 5, ["a"]:
        assert s.c.refused("textDocument/rename", {**f.at("k * |d * d"), "newName": name}) == -32602
    assert s.c.refused("textDocument/inlayHint", {"textDocument": {"uri": f.uri}, "range": {"start": 1}}) == -32602
    assert s.c.refused("workspace/symbol", {}) == -32602
    ends = {"start": {"line": 10**9, "character": 0}, "end": {"line": 0, "character": 0}}
    assert f.ask("inlayHint", range=ends) == []
    f.close()


def main():
    tkc, root, folder = sys.argv[1:4]
    s = Session(tkc, folder)
    for test in rename_locals, rename_items, rename_members, rename_refused, rename_said_again, rename_unchecked, tokens, hints, folding, symbols, keywords, bad:
        try:
            test(s)
        except (AssertionError, Gone):
            print(f"in {test.__name__}:", *s.c.errors, sep="\n")
            raise
    work(s, root)
    assert s.c.close() == 0
    assert s.c.errors == [], s.c.errors


if __name__ == "__main__":
    main()
