"""What clients and people do to a language server: rough.py TKC ROOT [N]. Broken messages, the wrong order, requests that are cancelled, many changes at once, and N texts that
are cut off or mixed. It answers each request, never ends by itself, and its memory stays as it is."""
import json
import os
import random
import subprocess
import sys
from pathlib import Path

from client import Client, File

GOOD = "param N: i32 = 8;\nfield x: real[N] needs_grad;\nfield e: real needs_grad;\nkernel k() {\n    for i in x { e += x[i] * x[i]; }\n}\n"


def order(tkc):
    c = Client(tkc, start=False)
    assert c.refused("textDocument/hover", {}) == -32002
    c.tell("textDocument/didOpen", {"textDocument": {"uri": "file:///a.tk", "text": "x", "version": 1}})
    c.ask("initialize", {"capabilities": {}})
    assert c.refused("initialize", {}) == -32600
    assert c.refused("textDocument/hover", {"textDocument": {"uri": "file:///a.tk"}, "position": {"line": 0, "character": 0}}) == -32602
    assert c.refused("no/such", {}) == -32601
    c.ask("shutdown")
    assert c.refused("textDocument/hover", {}) == -32600
    c.tell("exit")
    assert c.end() == 0
    c = Client(tkc)
    c.tell("exit")
    assert c.end() == 1
    c = Client(tkc)
    c.process.stdin.close()
    assert c.process.wait() == 1
    c = Client(tkc)                                 # the end comes in place of `exit`, with a text that nobody looked at
    c.tell("textDocument/didOpen", {"textDocument": {"uri": "file:///tmp/end.tk", "text": GOOD, "version": 1}})
    c.ask("shutdown")
    c.process.stdin.close()
    assert c.process.wait() == 1
    read, write = os.pipe()                         # whoever reads is gone
    os.close(read)
    p = subprocess.Popen([tkc, "--lsp"], stdin=subprocess.PIPE, stdout=write)
    os.close(write)
    text = b'{"id": 1, "method": "initialize"}'
    p.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
    p.stdin.flush()
    assert p.wait() == 1
    p.stdin.close()


def messages(tkc):
    c = Client(tkc)
    f = File(c, "file:///tmp/rough.tk", GOOD)
    assert f.diagnostics() == []

    def broken(data, code):
        c.raw(data)
        m = c.receive()
        while "method" in m:
            m = c.receive()
        assert m["id"] is None and m["error"]["code"] == code, m
        assert f.hover("|e +=")

    def framed(data):
        return b"Content-Length: %d\r\n\r\n%s" % (len(data), data)

    broken(framed(b"{"), -32700)
    broken(framed(b""), -32700)
    broken(framed(b'{"id": 1, "method": "x\xff"}'), -32700)
    broken(framed(b"[1, 2]"), -32600)
    broken(framed(b"{}"), -32600)
    broken(framed(b"[" * 5000), -32700)
    broken(framed(b'{"id": {}, "method": "shutdown"}'), -32600)
    broken(b"Content-Length: many\r\n\r\n", -32700)
    broken(b"Content-Length: 99999999999999999999999\r\n\r\n", -32700)
    broken(b"Nothing: 1\r\n\r\n", -32700)
    broken(b"content-length: 3\r\nContent-Type: x; charset=utf-8\r\n\r\n{,}", -32700)
    size = 170 << 20
    c.raw(b"Content-Length: %d\r\n\r\n" % size)
    for _ in range(size >> 20):
        c.raw(b" " * (1 << 20))
    assert c.receive()["error"]["code"] == -32700
    assert f.hover("|e +=")
    # byte by byte
    text = json.dumps({"jsonrpc": "2.0", "id": "slow", "method": "textDocument/documentSymbol", "params": {"textDocument": {"uri": f.uri}}}).encode()
    for b in framed(text):
        c.raw(bytes([b]))
    assert len(c.reply("slow")["result"]) == 4
    # parameters that are none
    for method in requests():
        for params in None, [], {}, 1, {"textDocument": None}, {"textDocument": {"uri": 1}}, {"textDocument": {"uri": f.uri}, "position": {"line": -1, "character": "x"}}, {"textDocument": {"uri": f.uri}, "range": {}}, {"command": 1}, \
                {"textDocument": {"uri": f.uri}, "position": {"line": 10**12, "character": 10**15}, "range": {"start": {"line": 10**12, "character": 0}, "end": {"line": 0, "character": 0}}, "arguments": 3}:
            m = c.reply(c.post(method, params))
            assert ("result" in m) != ("error" in m), m
    for params in None, {}, {"textDocument": {"uri": f.uri}}, {"textDocument": {"uri": f.uri}, "contentChanges": [None, 1, {}, {"text": 5}, {"range": {"start": 1}, "text": "x"}]}:
        for what in "didOpen", "didChange", "didClose", "didSave":
            if what != "didClose" or not params:
                c.tell(f"textDocument/{what}", params)
    assert f.hover("|e +=")
    c.tell("$/unknown", {})
    c.send({"id": 9, "result": None})               # an answer to nothing
    # halves of surrogate pairs, NUL, and what no source has
    c.send({"method": "textDocument/didChange", "params": {"textDocument": {"uri": f.uri, "version": 70}, "contentChanges": [{"text": "// \ud83d x\n" + GOOD.replace("e +=", "q +=")}]}})
    assert [d["code"] for d in c.diagnostics(f.uri, 70)] == ["E0202"]
    c.send({"method": "textDocument/didChange", "params": {"textDocument": {"uri": f.uri, "version": 71}, "contentChanges": [{"text": "// \0\n"}]}})
    [d] = c.diagnostics(f.uri, 71)
    assert "NUL" in d["message"], d
    f.version = 71
    f.set(GOOD)
    assert f.diagnostics() == []
    assert c.close() == 0 and not c.errors, c.errors


def requests():
    return ["textDocument/" + m for m in ("hover", "definition", "references", "documentHighlight", "completion", "signatureHelp", "documentSymbol", "formatting", "codeAction")] + ["workspace/executeCommand", "tkc/showAdjoint"]


def hurry(tkc, large):
    """Requests that are cancelled before their turn, and changes that come faster than they are compiled."""
    c = Client(tkc)
    f = File(c, "file:///tmp/large.tk", large)
    with c.stopped():
        numbers = [c.post("textDocument/hover", {"textDocument": {"uri": f.uri}, "position": {"line": 3, "character": 3}}) for _ in range(20)]
        for n in numbers[5:]:
            c.tell("$/cancelRequest", {"id": n})
    codes = [c.reply(n).get("error", {}).get("code") for n in numbers]
    assert codes == [None] * 5 + [-32800] * 15, codes
    f.set(GOOD)
    assert f.diagnostics() == []
    with c.stopped():
        for k in range(150):
            f.replace("x[i] * x[i]", "x[i] + x[i]") if k % 2 == 0 else f.replace("x[i] + x[i]", "x[i] * x[i]")
    published, m = 0, None
    while not m or m["params"]["version"] < f.version:
        m = c.receive()
        assert m["method"] == "textDocument/publishDiagnostics" and m["params"]["diagnostics"] == [], m
        published += 1
    assert published < 10, published
    assert c.close() == 0


def memory(c):
    status = Path(f"/proc/{c.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def changes(tkc, texts, n, seed=1):
    """Texts cut off, joined and with pieces of others in them; now and then something is asked."""
    draw = random.Random(seed)
    c = Client(tkc)
    f = File(c, "file:///tmp/changes.tk", GOOD)
    asked, first = requests(), 0
    for k in range(n):
        text = draw.choice(texts)
        at = draw.randrange(len(text) + 1)
        kind = draw.randrange(4)
        if kind == 0:
            f.set(text[:at])
        elif kind == 1:
            f.set(text[:at] + text[at + draw.randrange(1, 40):])
        elif kind == 2:
            other = draw.choice(texts)
            b = draw.randrange(len(other) + 1)
            f.set(text[:at] + other[b:b + draw.randrange(1, 60)] + text[at:])
        elif f.text:
            a = draw.randrange(len(f.text))
            f.replace(f.text[a:a + draw.randrange(1, 30)], draw.choice(["", ".", ";", "(", "}", "x", "é𝛼", "\n"]))
        p = f.position(min(at, len(f.text)))
        method = draw.choice(asked)
        context = {"textDocument": {"uri": f.uri}, "position": p, "range": {"start": p, "end": p}, "context": {"diagnostics": []}, "options": {}}
        m = c.reply(c.post(method, {"command": "tkc.showAdjoint", "arguments": [context]} if "execute" in method else context))
        assert "result" in m, (method, m)
        c.notes.clear()
        if k == n // 2:
            first = memory(c)
    grown = memory(c) - first
    f.set(GOOD)
    assert f.diagnostics() == []
    assert c.close() == 0
    assert not c.errors, c.errors
    return grown


def steady(tkc, n):
    """How much memory grows in each half of many changes of one text, the lesser one: the allocator may take a block once."""
    c = Client(tkc)
    f = File(c, "file:///tmp/steady.tk", GOOD)
    sizes = []
    for k in range(n):
        f.replace("x[i] *", "x[i] +") if k % 2 == 0 else f.replace("x[i] +", "x[i] *")
        f.hover("|e +=")
        f.complete("e += |x")
        f.ask("formatting", options={})
        c.ask("tkc/showAdjoint", f.at("e |+="))
        c.notes.clear()
        if k in (n // 4, 5 * n // 8, n - 1):
            sizes.append(memory(c))
    assert c.close() == 0
    return min(sizes[1] - sizes[0], sizes[2] - sizes[1])


def main():
    tkc, root, n = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    sanitized = len(sys.argv) > 4
    sources = sorted([*root.glob("tests/run/*.tk"), *root.glob("tests/syntax/*.tk"), *root.glob("tests/check/*.tk"), *root.glob("samples/*/*.tk")])
    texts = [t for p in sources if (t := p.read_text(errors="ignore")) and len(t) < 6000]
    order(tkc)
    messages(tkc)
    hurry(tkc, max((p.read_text() for p in root.glob("samples/*/*.tk")), key=len))
    grown = changes(tkc, texts, n)
    steadily = steady(tkc, n)
    print(f"{n} changes: {grown} KiB more, {steadily} KiB more")
    if not sanitized:                               # there freed memory waits
        assert steadily < 400, steadily
        assert grown < 30000, grown


if __name__ == "__main__":
    main()
