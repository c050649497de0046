#!/usr/bin/env python3
"""What programs compiled against libtkc rely on, as runtime/abi.txt lists it: abi.py ROOT LIBTKC.SO [--update]

Read from the headers by clang: functions with their types, structs with their layouts, constants, types of callbacks. Ends with status 1 if the list or the
library's symbols say something else, and where docs/c-api/abi.md asks for a number that was not raised. --update writes what may be written.
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HEAD = """# What programs compiled against libtkc rely on, on 64-bit machines: since which version, where it is declared, and what it is. docs/c-api/abi.md says
# what may change; tests/tools/abi.py ROOT LIBTKC.SO --update writes this, and refuses what may not. The packages' symbols come from here.
"""


def clang(root, header, *options):
    with tempfile.TemporaryDirectory() as tmp:
        unit = Path(tmp, "unit.c")
        unit.write_text(f"#include <tkc/{header}>\n")
        return subprocess.run(["clang", "-std=c11", "-fsyntax-only", "-I", root / "runtime/include", *options, unit], check=True, capture_output=True, text=True).stdout


def declared(node, found):
    """Functions, constants and callbacks of the headers, as (kind, name): text."""
    name, kind = node.get("name", ""), node.get("kind")
    if kind == "FunctionDecl" and name.startswith("tk_") and node.get("storageClass") != "static":
        parameters = [p for p in node.get("inner", ()) if p["kind"] == "ParmVarDecl"]
        found["function", name] = f"{node['type']['qualType']} [{', '.join(p.get('name', '') for p in parameters)}]"
    elif kind == "TypedefDecl" and name.startswith("tk_") and "(" in node["type"]["qualType"]:
        found["callback", name] = node["type"]["qualType"]
    elif kind == "EnumDecl":
        value = -1
        for constant in node.get("inner", ()):
            if constant["kind"] == "EnumConstantDecl":
                given = next((i["value"] for i in constant.get("inner", ()) if "value" in i), None)
                value = value + 1 if given is None else int(given)
                if constant["name"].startswith("TK_"):
                    found["constant", constant["name"]] = str(value)
    else:
        for inner in node.get("inner", ()) if kind in ("TranslationUnitDecl", "LinkageSpecDecl") else ():
            declared(inner, found)


def layouts(root, header):
    found = {}
    for record in clang(root, header, "-Xclang", "-fdump-record-layouts-complete").split("*** Dumping AST Record Layout\n")[1:]:
        first, *lines = record.splitlines()
        if name := re.fullmatch(r"\s*0 \| (?:struct|union) (tk_\w+)", first):
            size = next(m[1] for line in lines if (m := re.search(r"\[sizeof=(\d+)", line)))
            # What lies in a member that is a struct of its own stands in that one's line.
            members = [f"{m[1]} {m[2]}" for line in lines if (m := re.match(r"\s*([\d:-]+) \|   (\S.*)", line))]
            found["struct", name[1]] = f"{size} bytes: " + "; ".join(members)
    return found


def of_headers(root):
    """{(kind, name): (header, text)}"""
    found, host = layouts(root, "tkc_gen.h"), set(layouts(root, "tkc.h"))
    others = {}
    declared(json.loads(clang(root, "tkc_gen.h", "-Xclang", "-ast-dump=json")), others)
    words = set(re.findall(r"\w+", (root / "runtime/include/tkc/tkc.h").read_text()))
    host |= {key for key in others if key[1] in words}
    return {key: ("tkc.h" if key in host else "tkc_gen.h", text) for key, text in {**found, **others}.items()}


def of_list(path):
    """The numbers at its top, and {(kind, name): (since, header, text)}."""
    numbers, found = {}, {}
    for line in path.read_text().splitlines() if path.exists() else ():
        words = line.split(None, 4)
        if len(words) == 2:
            numbers[words[0]] = int(words[1])
        elif words and words[0] != "#":
            since, header, kind, name, text = words
            found[kind, name] = (since, header, text)
    return numbers, found


def only(pattern, path):
    found = re.findall(pattern, path.read_text(), re.M)
    if len(found) != 1:
        sys.exit(f"{path}: {len(found)} lines like {pattern}")
    return found[0]


def version(text):
    return tuple(int(n) for n in text.split("."))


def numbers_of(root):
    interface = int(only(r"^#define TK_INTERFACE (\d+)$", root / "runtime/include/tkc/tkc.h"))
    if int(only(r"EMIT_INTERFACE = (\d+)", root / "compiler/emit/emit_int.h")) != interface:
        sys.exit("compiler/emit/emit_int.h has another EMIT_INTERFACE than tkc.h a TK_INTERFACE")
    return {"soversion": int(only(r"^tkc_soversion = (\d+)$", root / "runtime/meson.build")), "interface": interface}


def broken(listed, current, released):
    """Lines of released versions that are gone or say something else."""
    for key, (since, header, text) in sorted(listed.items()):
        if version(since) <= released and current.get(key, (None, None))[1] != text:
            yield f"{header}: {key[0]} {key[1]} is {'not what it was' if key in current else 'gone'}"


def refusals(root, current, numbers, listed_numbers, listed):
    """What may not be written."""
    releases = [version(v) for v in re.findall(r"^## (\d+\.\d+\.\d+), \d", (root / "docs/changelog.md").read_text(), re.M)]
    if not releases:
        return
    raised = {name: numbers[name] > listed_numbers.get(name, -1) for name in numbers}
    found = list(broken(listed, current, max(releases)))
    if found and not all(raised.values()):
        yield from found
        yield "programs that exist break by that: raise tkc_soversion (runtime/meson.build), TK_INTERFACE (tkc.h) and EMIT_INTERFACE (emit_int.h), or keep what was"
    if raised["soversion"] != raised["interface"]:
        yield "tkc_soversion and TK_INTERFACE are raised together (docs/c-api/abi.md)"


def differences(current, listed):
    for key in sorted({*current, *listed}):
        now, then = current.get(key), listed.get(key, (None,))[1:]
        if now is None or now != then:
            yield f"{key[0]} {key[1]}: {'is not in the headers any more' if now is None else 'is new' if not then else f'was {then[1]}, is {now[1]}'}"


def exported(library):
    out = subprocess.run(["nm", "-D", "-g", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return {line.split()[2] for line in out.splitlines()} - {"_init", "_fini"}


def main():
    root, library = Path(sys.argv[1]).resolve(), sys.argv[2]
    path = root / "runtime/abi.txt"
    current, numbers = of_headers(root), numbers_of(root)
    listed_numbers, listed = of_list(path)
    functions = {name for kind, name in current if kind == "function"}
    faults = [f"libtkc.so has {name}, which no header declares" for name in sorted(exported(library) - functions)]
    faults += [f"{name} is declared, and libtkc.so has none" for name in sorted(functions - exported(library))]
    faults += refusals(root, current, numbers, listed_numbers, listed)
    if not faults and "--update" in sys.argv:
        now = only(r"^project\(.*version: '([\d.]+)'", root / "meson.build")
        since = {key: listed[key][0] if current[key] == listed.get(key, (None,))[1:] else now for key in current}
        lines = [f"{since[kind, name]} {header} {kind} {name} {text}\n" for (kind, name), (header, text) in sorted(current.items())]
        path.write_text(HEAD + "".join(f"{name} {n}\n" for name, n in numbers.items()) + "".join(lines))
        return
    faults += differences(current, listed)
    faults += [f"{name} is {n}, the list has {listed_numbers.get(name)}" for name, n in numbers.items() if listed_numbers.get(name) != n]
    if faults:
        sys.exit("runtime/abi.txt:\n" + "\n".join(faults) + "\n(abi.py ROOT LIBTKC.SO --update writes what may change; docs/c-api/abi.md)")


if __name__ == "__main__":
    main()
