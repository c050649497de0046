"""import tkc: programs compiled from Python, their cache, several processes at a time, errors."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

import tkc

TEXT = """param N: i32 = 3;
const SCALE = 2.0;
field x: real[N] needs_grad;
field loss: real needs_grad;
kernel measure() { for i in x { loss += SCALE * x[i] ** 2; } }
export func twice(a: real) -> real { return 2.0 * a; }
"""


def gradient(module):
    m = module.Module()
    m.x = [1, 2, 3]
    with m.tape(m.loss):
        m.measure()
    return m.x.grad.tolist()


class Package(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.cache = self.folder / "cache"

    def tearDown(self):
        shutil.rmtree(self.folder)

    def compile(self, source, **options):
        return tkc.compile(source, cache=self.cache, **options)

    def made(self):
        return sorted(x.name for x in self.cache.iterdir())

    def test_text(self):
        k = self.compile(TEXT)
        self.assertEqual(gradient(k), [4, 8, 12])
        self.assertEqual(str(k.Module().x.dtype), "float32")
        self.assertIs(self.compile(TEXT), k)
        d = self.compile(TEXT, real="f64", defines={"SCALE": 3.0}, name="wide", debug=True)
        self.assertEqual((gradient(d), str(d.Module().x.dtype)), ([6, 12, 18], "float64"))
        self.assertEqual(len(self.made()), 2)
        self.assertIs(k.Error, d.Error)
        self.assertTrue(hasattr(self.compile(TEXT, frameworks="torch"), "torch") and not hasattr(k, "torch"))

    def test_defines(self):
        text = "const ON = true;\nconst N = 2;\nexport func f() -> real { return ON ? 1.0 : real(N); }\n"
        self.assertEqual([self.compile(text, defines=d).f() for d in ({}, {"ON": False}, {"ON": False, "N": 5})], [1, 2, 5])

    def test_file(self):
        """An import that changed counts as a change."""
        (self.folder / "parts").mkdir()
        part, path = self.folder / "parts" / "part.tk", self.folder / "whole.tk"
        path.write_text('import "part.tk";\nexport func f(x: real) -> real { return g(x); }\n')
        for factor in 2, 3, 2:
            part.write_text(f"func g(x: real) -> real {{ return {factor}.0 * x; }}\n")
            k = self.compile(path, include=[part.parent])
            self.assertEqual((k.f(1.0), k.f_grad(1.0).x_grad, k.__name__[:10]), (factor, factor, "tkc_whole_"))
        self.assertEqual(len(self.made()), 2)
        self.assertIs(self.compile(str(path), include=[os.path.relpath(part.parent)]), k)    # from where Python is

    def test_errors(self):
        with self.assertRaises(tkc.CompileError) as e:
            self.compile("kernel k() {\n let a = ;\n}\n")
        d = e.exception.diagnostics[0]
        self.assertEqual((d["code"], d["line"], d["severity"]), ("E0101", 2, "error"))
        self.assertIn("E0101", str(e.exception))
        with self.assertRaisesRegex(tkc.CompileError, "nowhere.tk"):
            self.compile("nowhere.tk")
        with self.assertRaisesRegex(tkc.CompileError, "must be f32 or f64"):
            self.compile(TEXT, real="f16")
        for name in "two/names", "..", "":
            with self.assertRaises(ValueError):
                self.compile(TEXT, name=name)
        with self.assertRaisesRegex(tkc.NoCompiler, "nothing-there"):
            self.compile(TEXT, cc="nothing-there -O2")
        with self.assertRaisesRegex(tkc.CompileError, "E0706"):
            self.compile(TEXT, cc="false")
        self.assertEqual([x for x in self.made() if not x.startswith("kernels-")], [])
        self.assertEqual(len(self.made()), 0)               # what failed leaves nothing
        with self.assertRaises(tkc.CompileError):
            self.compile(TEXT, name="2 fast")

    def test_without_a_compiler(self):
        program = "import tkc\ntry:\n    tkc.compile('export func f() { }\\n')\nexcept tkc.NoCompiler as e:\n    print(e)\n"
        said = subprocess.run([sys.executable, "-B", "-c", program], env={**os.environ, "PATH": "", "TKC_CC": ""}, capture_output=True, text=True, check=True)
        self.assertIn("needs a C compiler at run time", said.stdout)

    def test_processes(self):
        program = f"import sys, tkc\nk = tkc.compile({TEXT!r}, cache={str(self.cache)!r})\nassert k.twice(2.0) == 4.0\n"
        running = [subprocess.Popen([sys.executable, "-B", "-c", program]) for _ in range(4)]
        self.assertEqual([p.wait() for p in running], [0] * 4)
        self.assertEqual(len(self.made()), 1)
        before = os.stat(self.cache / self.made()[0]).st_mtime_ns
        self.compile(TEXT)                                  # finds what they made
        self.assertEqual(os.stat(self.cache / self.made()[0]).st_mtime_ns, before)

    def test_deleted_files(self):
        """Whatever is deleted of an entry is made again."""
        self.compile(TEXT)
        entry = self.cache / self.made()[0]
        for names in (["kernels.py"], ["libkernels.so"], ["libkernels.so", "kernels.py"], None):
            if names is None:
                shutil.rmtree(entry)
            for name in names or ():
                (entry / name).unlink()
            tkc._loaded.clear()                             # as another process finds it
            self.assertEqual(gradient(self.compile(TEXT)), [4, 8, 12])
            self.assertEqual(self.made(), [entry.name])
            self.assertTrue((entry / "kernels.py").is_file() and (entry / "libkernels.so").is_file())

    def test_folders(self):
        """The same program is the same entry from any folder; another import is another."""
        before, modules = os.getcwd(), []
        self.addCleanup(os.chdir, before)
        text = 'import "part.tk";\nexport func f(x: real) -> real { return g(x); }\n'
        for name, factor in (("a", 2), ("b", 2), ("c", 3)):
            folder = self.folder / name
            folder.mkdir()
            (folder / "part.tk").write_text(f"func g(x: real) -> real {{ return {factor}.0 * x; }}\n")
            (folder / "whole.tk").write_text(text)
            os.chdir(folder)
            modules.append((self.compile(text), self.compile("whole.tk"), self.compile(folder / "whole.tk", include=[folder])))
            self.assertEqual([k.f(1.0) for k in modules[-1]], [factor] * 3)
        self.assertEqual(modules[0], modules[1])
        self.assertEqual(len(self.made()), 4)               # two texts, two files

    def test_warnings(self):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            self.compile("export func f(x: real) -> real { return x; let y = x; }\n")
        self.assertEqual([w.category for w in seen], [tkc.TkcWarning])
        self.assertIn("kernels.tk:1: this is never reached", str(seen[0].message))


unittest.main()
