# The editors' syntax files know the language's words, and colour a line as they should.
python3 "$ROOT/tests/tools/editorwords.py" "$ROOT"
python3 "$ROOT/tests/tools/icon.py" "$ROOT"
python3 "$ROOT/tests/tools/extension.py" "$ROOT"
cat >scopes.py <<'P'
import json
import re
import sys

grammar = json.load(open(sys.argv[1]))
for name in "package.json", "language-configuration.json":
    json.load(open(sys.argv[1].rsplit("/", 2)[0] + "/" + name))


def scopes(line):
    """The scope of each word, as an editor finds it: the leftmost match, the first rule on a tie."""
    found, at = {}, 0
    while at < len(line):
        hits = [(m.start(), n, m, p) for n, p in enumerate(grammar["patterns"]) if (m := re.compile(p.get("match", p.get("begin"))).search(line, at))]
        if not hits:
            break
        _, _, m, p = min(hits, key=lambda h: h[:2])
        if "begin" in p:
            end = re.compile(p["end"]).search(line, m.end())
            found[line[m.start():end.end()]] = p["name"]
            at = max(end.end(), m.end())
            continue
        for k, c in p.get("captures", {"0": {"name": p.get("name")}}).items():
            found[m.group(int(k))] = c["name"]
        at = max(m.end(), at + 1)
    return found


def expect(line, **want):
    got = scopes(line)
    for word, scope in want.items():
        if got.get(word) != scope:
            sys.exit(f"{line!r}: {word!r} is {got.get(word)}, not {scope}")


expect("kernel energy(dt: real) derive(jvp) { // why", kernel="keyword.declaration.tk", energy="entity.name.function.tk", real="storage.type.tk", derive="storage.modifier.tk")
expect("    for i in x { U += sin(x.grad[i]) * 0x2A; }", sin="support.function.tk", grad="variable.language.plane.tk", **{"for": "keyword.control.tk", "0x2A": "constant.numeric.integer.tk"})
expect("field kernels: vec3[N] needs_grad;", kernels="variable.other.tk", vec3="storage.type.tk", needs_grad="storage.modifier.tk")
expect('print("a kernel", 1.5e-3); /// doc', **{'"a kernel"': "string.quoted.double.tk", "1.5e-3": "constant.numeric.float.tk", "/// doc": "comment.line.documentation.tk"})
P
python3 scopes.py "$ROOT/docs/editors/vscode/syntaxes/tk.tmLanguage.json"
# Vim itself, where there is one that highlights
if vim --version 2>/dev/null | grep -q '+syntax'; then
    printf 'kernel energy() { U += sin(0.5); }\n' >a.tk
    vim -Nu NONE -es -c "set rtp^=$ROOT/docs/editors/vim" -c 'filetype plugin on' -c 'syntax on' -c 'edit a.tk' -c 'redir! > groups' \
        -c 'echo synIDattr(synID(1, 1, 1), "name") synIDattr(synID(1, 8, 1), "name") synIDattr(synID(1, 25, 1), "name")' -c 'redir END' -c 'qa!' || true
    grep -q 'tkItem tkName tkFunction' groups || { echo "vim: $(cat groups)"; exit 1; }
fi
