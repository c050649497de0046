"""What a language server has to do, asked by a client: session.py TKC [FOLDER]. The folder is for files on disk."""
import os
import sys

from client import Client, File, Gone

CHAIN = """import "units.tk";
param N: i32 = 100;
/// Where they are.
field x: real[N] needs_grad needs_dual;
field energy: real needs_grad needs_dual;
field still: real[N];
struct Ball { pos: vec3, mass: real }
field balls: Ball[N];

func square(a) { return a * a; }

kernel springs(k: real) {
    for i in range(N - 1) {
        let d = x[i + 1] - x[i];            // «grün» 𝛼
        let idle = d * 2.0;
        let given = still[i] + METRE;
        energy += k * (1.0 - cos(d)) + square(d) + given + balls[i].mass;
    }
}

kernel count() derive() {
    for i in x { still[i] = 1.0; }
}
"""
UNITS = "/// One of them.\nconst METRE = 1.0;\nfunc half(a: real) -> real { return a / 2.0; }\n"


def expect(what, *want):
    for w in want:
        assert what is not None and w in what, f"{w!r} is not in {what!r}"


class Session:
    def __init__(self, tkc, folder, *options, **more):
        self.folder = folder
        with open(os.path.join(folder, "units.tk"), "w") as f:
            f.write(UNITS)
        self.c = Client(tkc, *options, **more)
        self.wide = self.c.capabilities["positionEncoding"] == "utf-16"

    def open(self, text, name="chain.tk"):
        return File(self.c, "file://" + os.path.join(self.folder, name), text, self.wide)


def hovers(s):
    f = s.open(CHAIN)
    assert f.diagnostics() == []
    expect(f.hover("|x[i + 1]"), "field x: real[N] needs_grad needs_dual", "Where they are.", "`x.grad`", "`x.dual`", "`springs` (line 14)", "adjoint of `springs` reads this value")
    expect(f.hover("let |d"), "let d: f32", "**Active**", "`x` (line 14)", "`energy` (line 17)")
    expect(f.hover("cos(|d"), "let d: f32", "**Active**")
    expect(f.hover("let |idle"), "Not active: it depends on `x`", "nothing that has a gradient depends on it")
    expect(f.hover("let |given"), "Not active: `energy` (line 17) depends on it", "it depends on nothing that has a gradient")
    expect(f.hover("field |still"), "Not active: it has neither")
    expect(f.hover("|energy +="), "`springs`: `energy +=: reduction`")
    expect(f.hover("kernel sp|rings"), "It has an adjoint", "x.grad +=: gather")
    expect(f.hover("kernel co|unt"), "It has no adjoint")
    expect(f.hover("co|s(d)"), "cos(x)")
    expect(f.hover("ME|TRE"), "const METRE = 1.0", "One of them.")
    expect(f.hover("balls[i].ma|ss"), "balls[i].mass: f32")
    expect(f.hover("(|k: real"), "(parameter) k: f32")
    assert f.hover("// «gr|ün»") is None
    f.close()
    assert s.c.diagnostics(f.uri) == []


def places(s):
    f = s.open(CHAIN)
    where = f.ask("definition", "cos(|d")
    assert where["uri"] == f.uri and f.said(where["range"]) == "d" and where["range"]["start"]["line"] == 13, where
    where = f.ask("definition", "MET|RE")
    assert where["uri"].endswith("/units.tk") and where["range"] == {"start": {"line": 1, "character": 6}, "end": {"line": 1, "character": 11}}, where
    assert f.ask("definition", 'import "un|its')["uri"].endswith("/units.tk")
    assert f.ask("definition", "co|s(d)") is None
    refs = f.ask("references", "let |d", context={"includeDeclaration": True})
    assert len(refs) == 4 and {f.said(r["range"]) for r in refs} == {"d"}, refs
    assert len(f.ask("references", "let |d", context={"includeDeclaration": False})) == 3
    assert len(f.ask("documentHighlight", "|x[i + 1]")) == 4
    names = [t["name"] for t in f.ask("documentSymbol")]
    assert names == ["N", "x", "energy", "still", "Ball", "balls", "square", "springs", "count"], names
    ball = f.ask("documentSymbol")[4]
    assert [m["name"] for m in ball["children"]] == ["pos", "mass"] and f.said(ball["selectionRange"]) == "Ball"
    # behind characters that are several bytes, and two units of UTF-16, on the same line
    f.set("field a: real; field b: real;\nkernel k() { /* 𝛼𝛽 grün */ a = b + c; }\n")
    [d] = f.diagnostics()
    assert f.said(d["range"]) == "c" and d["code"] == "E0202", d
    assert f.said(f.ask("definition", "*/ a = |b")["range"]) == "b"
    f.replace("c;", "1.0;")
    assert f.diagnostics() == []
    f.set("field a: real;\rfield b: real;\r\nkernel k() { a = b; }\n")      # a line's end to the protocol alone
    assert f.diagnostics() == []
    assert s.c.ask("textDocument/hover", {"textDocument": {"uri": f.uri}, "position": {"line": 1, "character": 6}})["contents"]["value"].count("field b: real")
    f.close()


def messages(s):
    f = s.open(CHAIN.replace("still[i] + METRE", "stil[i] + METRE").replace("cos(d)", "fabs(d)"))
    a, b = f.diagnostics()
    assert (a["code"], f.said(a["range"]), b["code"], f.said(b["range"])) == ("E0202", "stil", "E0203", "fabs"), (a, b)
    assert a["severity"] == 1 and a["source"] == "tkc" and "did you mean 'still'?" in a["message"]
    assert a["relatedInformation"][0]["location"]["uri"] == f.uri
    page, _, anchor = a["codeDescription"]["href"].partition("#")
    assert page.endswith("/errors/names.md") and anchor.startswith("e0202-") and os.path.exists(page[7:]), a
    for d in (b, a):
        [fix] = f.ask("codeAction", range=d["range"], context={"diagnostics": [d]})
        f.apply(fix["edit"]["changes"][f.uri])
    assert "still[i] + METRE" in f.text and "abs(d)" in f.text and "fabs" not in f.text
    f.set(f.text)
    assert f.diagnostics() == []
    f.replace("let idle = d * 2.0;", "let idle = d * 2.0")
    [d] = f.diagnostics()
    assert d["code"] == "E0101", d
    [fix] = f.ask("codeAction", range=d["range"], context={"diagnostics": [d]})
    assert fix["title"] == "Insert ';'"
    f.apply(fix["edit"]["changes"][f.uri])
    f.set(f.text)
    assert f.diagnostics() == []
    for old, new, title in (("needs_grad needs_dual;\nfield energy", "needs_grd needs_dual;\nfield energy", "Replace 'needs_grd' by 'needs_grad'"), ("k: real)", "k: float)", "Replace 'float' by 'f32'")):
        f.replace(old, new)
        d = f.diagnostics()[0]
        assert title in [t["title"] for t in f.ask("codeAction", range=d["range"], context={"diagnostics": [d]})]
        f.replace(new, old)
        assert f.diagnostics() == []
    f.replace("let given = still[i]", "still[i] += x[i];\n        let given = still[i]")        # found by a pass, behind the checker
    assert {"E0501", "E0502"} & {d["code"] for d in f.diagnostics()}
    f.close()
    # in a file that is imported, and which is open with other text than on disk
    f = s.open(CHAIN)
    assert f.diagnostics() == []
    u = s.open(UNITS.replace("METRE = 1.0", "METRE = 1.0 +"), "units.tk")
    [d] = u.diagnostics()
    [d] = s.c.diagnostics(f.uri)
    assert d["range"]["start"]["line"] == 0 and "units.tk:2" in d["message"] and d["relatedInformation"][0]["location"]["uri"] == u.uri, d
    u.set(UNITS.replace("1.0", "one"))
    u.diagnostics()
    u.set(UNITS)
    assert u.diagnostics() == []
    while s.c.diagnostics(f.uri):
        pass
    u.close()
    f.set(CHAIN.replace("units.tk", "none.tk"))
    assert [d["code"] for d in f.diagnostics()] == ["E0708"]
    f.close()


def broken_text(s):
    """With errors in the text what was known before stays of use."""
    f = s.open(CHAIN)
    assert f.diagnostics() == []
    f.replace("let idle = d * 2.0;", "let idle = = (d * ;")
    assert f.diagnostics()
    expect(f.hover("let |d"), "let d: f32", "**Active**")
    expect(f.hover("|energy +="), "field energy")
    assert f.said(f.ask("definition", "|square(d)")["range"]) == "square"
    assert "springs" in [t["name"] for t in f.ask("documentSymbol")]
    labels = f.complete("+ square(|d)")
    assert {"d", "given", "x", "k", "i", "square", "METRE", "sin"} <= set(labels), labels
    assert f.ask("formatting", options={}) is None
    f.set("")
    assert f.diagnostics() == [] and f.ask("documentSymbol") == []
    f.close()


def completions(s):
    f = s.open(CHAIN)
    assert f.diagnostics() == []
    labels = f.complete("energy += |k")
    assert {"d", "idle", "given", "i", "k", "x", "N", "METRE", "half", "cos", "for", "f32"} <= set(labels), labels
    assert "a" not in labels and len(labels) == len(set(labels))
    labels = f.complete("still[i] = |1.0")
    assert "i" in labels and "d" not in labels and "k" not in labels, labels
    for text, want, other in (("x[i].|", {"abs", "sin"}, {"norm", "pos"}), ("balls[i].|", {"pos", "mass"}, {"x"}), ("balls[i].pos.|", {"x", "y", "z", "norm", "dot"}, {"w"}), ("let e = x.|;", {"grad", "dual", "shape"}, {"pos"}),
                              ("let e = balls[i].pos.|", {"x", "norm"}, {"w"}), ("let e = square.|", {"grad", "jvp"}, {"x"})):
        f.replace("let idle", text.replace("|", "") + "\n        let idle")
        labels = set(f.complete(text))
        assert want <= labels and not other & labels, (text, labels)
        f.set(CHAIN)
    for text, want, other in (("field y: |", {"real", "vec3", "Ball"}, {"needs_grad"}), ("field y: real[N] |", {"needs_grad", "saved"}, {"derive"}), ("kernel z() |", {"derive", "no_grad"}, {"needs_grad"}), ("|", {"field", "kernel", "const"}, {"let", "sin"}),
                              ("field y: real[|", {"N", "METRE"}, {"needs_grad"}), ("func z(a: |", {"real", "in", "Ball"}, {"sin"}), ("// a.|", set(), {"x"}), ("field y: real; // |", set(), {"field"})):
        f.set(CHAIN + "\n" + text.replace("|", "") + "\n")
        p = {"textDocument": {"uri": f.uri}, "position": f.position(len(CHAIN) + 1 + text.index("|"))}
        labels = {i["label"] for i in s.c.ask("textDocument/completion", p)["items"]}
        assert want <= labels and not other & labels, (text, labels)
    f.set(CHAIN)
    sig = f.ask("signatureHelp", "square(|d)")
    assert sig["signatures"][0]["label"] == "func square(a)", sig
    f.replace("cos(d)", "smoothstep(0.0, 1.0, d)")
    sig = f.ask("signatureHelp", "smoothstep(0.0, 1.0, |d")
    assert sig["signatures"][0]["label"] == "smoothstep(lo, hi, x)" and sig["activeParameter"] == 2
    assert f.ask("signatureHelp", "param |N") is None
    f.close()


def imported(s):
    f = s.open("""import "units.tk" as units;
field x: real[4] needs_grad;
field METRE: real;
kernel k() {
    serial for x in range(4) { let h = units.half(units.METRE); METRE += h; }
    METRE += x[2];
}
""")
    assert f.diagnostics() == []
    expect(f.hover("units.ME|TRE"), "const METRE = 1.0", "One of them.")
    expect(f.hover("|METRE += x["), "field METRE: real")
    where = f.ask("definition", "units.ha|lf")
    assert where["uri"].endswith("/units.tk") and where["range"]["start"] == {"line": 2, "character": 5}, where
    assert f.said(f.ask("definition", "un|its.half")["range"]) == "units"
    assert f.said(f.ask("definition", "+= |x[2]")["range"]) == "x" and f.ask("definition", "+= |x[2]")["range"]["start"]["line"] == 1
    refs = f.ask("references", "as un|its", context={"includeDeclaration": True})
    assert len(refs) == 3 and {f.said(r["range"]) for r in refs} == {"units"}, refs
    labels = f.complete("METRE += |x[2]")
    assert {"units", "x", "METRE", "k"} <= set(labels) and "half" not in labels, labels
    f.replace("METRE += x[2]", "METRE += units.")
    f.diagnostics()
    labels = f.complete("METRE += units.|")
    assert {"half", "METRE"} <= set(labels) and not {"x", "k", "sin"} & set(labels), labels
    f.replace("METRE += units.", "METRE += METER")
    [d] = f.diagnostics()
    assert "did you mean 'METRE'?" in d["message"], d
    f.replace("METRE += METER", "METRE += half(1.0)")
    [d] = f.diagnostics()
    [fix] = f.ask("codeAction", range=d["range"], context={"diagnostics": [d]})
    assert fix["title"] == "Replace 'half' by 'units.half'", fix
    assert [t["name"] for t in f.ask("documentSymbol")] == ["x", "METRE", "k"]
    f.close()


def formatting(s):
    f = s.open("field a:real;  // ä\nkernel  k( ){\na=a+1.0 ;\n}\n")
    edits = f.ask("formatting", options={})
    assert 0 < len(edits) <= 3, edits
    f.apply(edits)
    assert f.text == "field a: real; // ä\nkernel k() {\n    a = a + 1.0;\n}\n", f.text
    f.set(f.text)
    assert f.ask("formatting", options={}) == []
    f.set("const  A = - -1;\n")
    f.apply(f.ask("formatting", options={}))
    assert f.text == "const A = - -1;\n", f.text
    f.set('import "not_there.tk";\nconst  A = 1;')
    edits = f.ask("formatting", options={})
    f.apply(edits)
    assert f.text == 'import "not_there.tk";\nconst A = 1;\n', repr(f.text)
    f.close()


def many(s):
    """Places of a long text, with lines of every kind, and one that is long: the names stand where the answers say."""
    heads = [f"/* grün 𝛼{'x' * (i % 40)} */ kernel k{i}() {{ x[0] = {i}.0; }}{(' ', chr(10), chr(13) + chr(10), chr(13), chr(9))[i % 5 if i < 500 else 0]}" for i in range(1100)]
    text = "field x: real[4];\n" + "".join(heads)
    f = s.open(text)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def at(place):
        line = lines[place["start"]["line"]].encode("utf-16-le" if s.wide else "utf-8")
        size = 2 if s.wide else 1
        return line[place["start"]["character"] * size:place["end"]["character"] * size].decode("utf-16-le" if s.wide else "utf-8")

    symbols = f.ask("documentSymbol")
    assert [t["name"] for t in symbols] == ["x"] + [f"k{i}" for i in range(1100)]
    assert all(at(t["selectionRange"]) == t["name"] for t in symbols), symbols
    uses = f.ask("references", "field |x", context={"includeDeclaration": True})
    assert len(uses) == 1101 and {at(u["range"]) for u in uses} == {"x"}
    f.close()
    f = s.open("".join(f"field  g{i}: real;  // ä𝛼\n" for i in range(300)))
    f.apply(f.ask("formatting", options={}))
    assert f.text == "".join(f"field g{i}: real;   // ä𝛼\n" for i in range(300)), f.text[:200]
    f.close()


def adjoints(s):
    f = s.open(CHAIN)
    shown = s.c.ask("workspace/executeCommand", {"command": "tkc.showAdjoint", "arguments": [f.at("energy |+=")]})
    assert shown["name"] == "springs"
    expect(shown["text"], "springs_grad_task0", "sinf(d)", "x_grad[i] +=")
    assert "springs_jvp" not in shown["text"] and "springs_task0(" not in shown["text"].replace("grad_task0", "")
    assert s.c.ask("tkc/showAdjoint", {**f.at("|N: i32"), "kernel": "springs"})["text"] == shown["text"]
    expect(s.c.ask("tkc/showAdjoint", f.at("still[i] = |1.0"))["error"], "there is no adjoint")
    expect(s.c.ask("tkc/showAdjoint", f.at("param |N"))["error"], "no kernel here")
    f.replace("cos(d)", "cos(d")
    expect(s.c.ask("tkc/showAdjoint", f.at("energy |+="))["error"], "errors")
    f.set("export func f(a: real) -> real { return a * a; }\n")
    expect(s.c.ask("tkc/showAdjoint", f.at("ret|urn"))["text"], "f_grad")
    f.close()


def untitled(s):
    f = File(s.c, "untitled:Untitled-1", "field a: real; kernel k() { a = b; }", s.wide)
    [d] = f.diagnostics()
    assert d["code"] == "E0202"
    f.close()
    f = s.open("field a: real;\n", "no-name of C.tk")       # --prefix may give it one
    assert f.diagnostics() == []
    f.close()


def main():
    tkc, folder = sys.argv[1:3]
    for encodings in None, ["utf-8", "utf-16"], ["utf-32"]:
        s = Session(tkc, folder, encodings=encodings)
        assert s.wide == (encodings is None or "utf-8" not in encodings)
        for test in (hovers, places, messages, broken_text, completions, imported, formatting, many, adjoints, untitled) if encodings != ["utf-32"] else ():
            try:
                test(s)
            except (AssertionError, Gone):
                print(f"in {test.__name__}, {encodings}:", *s.c.errors, sep="\n")
                raise
        assert s.c.close() == 0
        assert s.c.errors == [], s.c.errors
    s = Session(tkc, folder, "-D", "METRE=2.0", "--real=f64", "-Werror")
    f = s.open(CHAIN)
    assert f.diagnostics() == []
    expect(f.hover("let |d"), "let d: f64")
    assert s.c.close() == 0
    s = Session(tkc, folder, "-Wshadow")
    f = s.open("field x: real;\nfunc f(x: real) { return x; }\nkernel k() { x = f(1.0); }\n")
    [d] = f.diagnostics()
    assert d["code"] == "W0806" and d["severity"] == 2 and f.said(d["range"]) == "x", d
    assert s.c.close() == 0


if __name__ == "__main__":
    main()
