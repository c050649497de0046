"""A client of `tkc --lsp`, for tests: messages in and out, and what a client has to hold itself. It waits for messages as long as the server lives."""
import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import threading


class Gone(Exception):
    """The server ended."""


class Client:
    def __init__(self, tkc, *options, encodings=None, start=True, wrapper=()):
        self.number = 0
        self.process = subprocess.Popen([*wrapper, tkc, "--lsp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.inbox, self.replies, self.notes, self.errors = queue.Queue(), {}, [], []
        self.threads = [threading.Thread(target=f, daemon=True) for f in (self._read, self._read_errors)]
        for t in self.threads:
            t.start()
        if start:
            general = {"general": {"positionEncodings": encodings}} if encodings else {}
            self.capabilities = self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": general})["capabilities"]
            self.tell("initialized", {})

    def _read(self):
        out = self.process.stdout
        while True:
            length = None
            while (line := out.readline()) not in (b"\r\n", b""):
                if m := re.fullmatch(rb"Content-Length: (\d+)\r\n", line):
                    length = int(m[1])
                else:
                    self.inbox.put(ValueError(f"not a header: {line!r}"))
                    return
            if length is None:
                self.inbox.put(None)
                return
            self.inbox.put(json.loads(out.read(length)))

    def _read_errors(self):
        for line in self.process.stderr:
            self.errors.append(line.decode(errors="replace"))

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message, **more):
        text = json.dumps({"jsonrpc": "2.0", **message}, **more).encode()
        self.raw(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))

    def tell(self, method, params=None):
        self.send({"method": method, "params": params})

    def post(self, method, params=None):
        """Sends a request; its number."""
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        return self.number

    def receive(self):
        m = self.inbox.get()
        if m is None:
            raise Gone("the server ended: " + "".join(self.errors))
        if isinstance(m, Exception):
            raise m
        return m

    @contextlib.contextmanager
    def stopped(self):
        """The server runs when all is sent: it finds all messages at once. They fit into a pipe, 64 KiB."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def reply(self, number):
        """The whole answer to a request."""
        while number not in self.replies:
            m = self.receive()
            if "method" in m:
                self.notes.append(m)
            else:
                self.replies[m["id"]] = m
        return self.replies.pop(number)

    def ask(self, method, params=None):
        m = self.reply(self.post(method, params))
        if "error" in m:
            raise AssertionError(f"{method}: {m['error']}")
        return m["result"]

    def refused(self, method, params=None):
        """The code of the error."""
        m = self.reply(self.post(method, params))
        assert "error" in m, m
        return m["error"]["code"]

    def diagnostics(self, uri, version=None):
        """The list that was published for that version of the document, or the next one."""
        while True:
            for k, m in enumerate(self.notes):
                p = m["params"]
                if m["method"] == "textDocument/publishDiagnostics" and p["uri"] == uri and version in (None, p.get("version")):
                    self.notes = [n for n in self.notes[:k] if n["params"].get("uri") != uri] + self.notes[k + 1:]
                    return p["diagnostics"]
            m = self.receive()
            if "method" in m:
                self.notes.append(m)
            else:
                self.replies[m["id"]] = m

    def close(self):
        """shutdown and exit; the status."""
        self.ask("shutdown")
        self.tell("exit")
        return self.end()

    def end(self):
        status = self.process.wait()
        for t in self.threads:
            t.join()
        self.process.stdin.close()
        return status


class File:
    """An open document. `|` in a text given to `at` is the cursor."""

    def __init__(self, client, uri, text, wide=True):
        self.c, self.uri, self.text, self.version, self.wide = client, uri, text, 1, wide
        client.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "tk", "version": 1, "text": text}})

    def position(self, offset):
        before = self.text[:offset]
        line = before.count("\n")
        column = before[before.rfind("\n") + 1:]
        return {"line": line, "character": len(column.encode("utf-16-le" if self.wide else "utf-8")) // (2 if self.wide else 1)}

    def offset(self, position):
        lines = self.text.split("\n")
        line, start = lines[position["line"]], sum(len(t) + 1 for t in lines[:position["line"]])
        code = line.encode("utf-16-le" if self.wide else "utf-8")[:position["character"] * (2 if self.wide else 1)]
        return start + len(code.decode("utf-16-le" if self.wide else "utf-8", errors="replace"))

    def at(self, context, nth=0):
        """Parameters for the cursor at the `|` of the context, in its nth place."""
        want, plain, k = context.index("|"), context.replace("|", ""), -1
        for _ in range(nth + 1):
            k = self.text.index(plain, k + 1)
        return {"textDocument": {"uri": self.uri}, "position": self.position(k + want)}

    def ask(self, method, cursor=None, nth=0, **more):
        return self.c.ask(f"textDocument/{method}", {**(self.at(cursor, nth) if cursor else {"textDocument": {"uri": self.uri}}), **more})

    def hover(self, context, nth=0):
        h = self.ask("hover", context, nth)
        return h["contents"]["value"] if h else None

    def complete(self, context, nth=0):
        return [i["label"] for i in self.ask("completion", context, nth)["items"]]

    def said(self, r):
        """The text of a range."""
        return self.text[self.offset(r["start"]):self.offset(r["end"])]

    def replace(self, old, new, whole=False):
        """Changes the text, by its range, or all of it; then what the server says of it can be asked for."""
        k = self.text.index(old)
        change = {"range": {"start": self.position(k), "end": self.position(k + len(old))}, "text": new}
        self.text = self.text[:k] + new + self.text[k + len(old):]
        self.tell([{"text": self.text}] if whole else [change])

    def set(self, text):
        self.text = text
        self.tell([{"text": text}])

    def tell(self, changes):
        self.version += 1
        self.c.tell("textDocument/didChange", {"textDocument": {"uri": self.uri, "version": self.version}, "contentChanges": changes})

    def diagnostics(self):
        return self.c.diagnostics(self.uri, self.version)

    def apply(self, edits):
        for e in sorted(edits, key=lambda e: -self.offset(e["range"]["start"])):
            a, b = self.offset(e["range"]["start"]), self.offset(e["range"]["end"])
            self.text = self.text[:a] + e["newText"] + self.text[b:]

    def close(self):
        self.c.tell("textDocument/didClose", {"textDocument": {"uri": self.uri}})
