# The .pyi that --python writes: mypy and pyright find nothing in the programs of the pages, and each mistake of tests/python/typed.py.
# slow: 30
# inputs: build-files runtime tests/python compiler/python README.md docs/python.md docs/start.md docs/solvers.md
. "$ROOT/tests/python/find.sh"
python_with numpy mypy pyright
pyright()
{
    "$PY" -m pyright --pythonpath "$(command -v "$PY")" "$@"
}
pyright --version >out 2>&1 || { echo "pyright does not run: $(tail -1 out)"; exit 77; }

# each page's modules, and the programs with them
cat >programs.py <<'END'
import os, re, sys
for page in sys.argv[1:]:
    text = open(page).read()
    found = {}
    for name, kind, body in re.findall(r"(?m)^<!-- test: (\w+)[^\n]*-->\n+```(tk|python)\n(.*?)^```", text, re.DOTALL):
        found.setdefault(name, {})[kind] = body
    for name, body in re.findall(r"(?m)^<!-- python file: (\S+) -->\n+```\w+\n(.*?)^```", text, re.DOTALL):
        found.setdefault("files", {})[name] = body
    files = found.pop("files", {})
    for name, parts in found.items():
        if len(parts) == 2:
            files.update({f"{name}.tk": parts["tk"], f"use_{name}.py": parts["python"]})
    for number, body in enumerate(re.findall(r"(?m)^```python\n(import (?:tkc|numpy as np\nimport tkc)\n.*?)^```", text, re.DOTALL)):
        files[f"package{number}_{os.path.basename(page)[:-3]}.py"] = body
    for name, body in files.items():
        open(name, "w").write(body)
        print(name)
END
"$PY" programs.py "$ROOT/README.md" "$ROOT/docs/python.md" "$ROOT/docs/start.md" >names
rm programs.py
test "$(wc -l <names)" -ge 14
cp -R "$ROOT/runtime/python/tkc" .
for tk in *.tk; do tkc --python=torch,jax --cc=true "$tk"; done
flags=$(sed -n '1,8s|^// flags: ||p' "$ROOT/tests/python/kernels.tk")
# shellcheck disable=SC2086
for name in kernels fields functions said; do tkc --python $flags --cc=true "$ROOT/tests/python/$name.tk" -o $name.py; done

printf '[mypy]\nignore_missing_imports = True\nfollow_untyped_imports = False\n' >mypy.ini
printf '{"reportMissingImports": false, "reportMissingModuleSource": false, "reportAttributeAccessIssue": true}\n' >pyrightconfig.json
programs=$(grep '\.py$' names)
# shellcheck disable=SC2086
"$PY" -m mypy --check-untyped-defs ./*.pyi $programs tkc/__init__.py || exit 1
"$PY" -m mypy --strict ./*.pyi || exit 1
# shellcheck disable=SC2086
pyright ./*.pyi $programs tkc/__init__.py || exit 1

# mistakes
cp "$ROOT/tests/python/typed.py" .
grep -n '# wrong$' typed.py | sed 's/:.*//' >wrong
"$PY" -m mypy typed.py >out || :
sed -n 's/^typed\.py:\([0-9]*\): error.*/\1/p' out | sort -nu >found
diff wrong found || { cat out; exit 1; }
pyright typed.py >out || :
sed -n 's/.*typed\.py:\([0-9]*\):[0-9]* - error.*/\1/p' out | sort -nu >found
diff wrong found || { cat out; exit 1; }
