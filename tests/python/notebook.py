"""The notebook of samples/notebook, cell by cell in IPython, and the magic %%tk: notebook.py HEAT.ipynb"""
import json
import sys
import warnings

import IPython
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

shell = InteractiveShell.instance()
shell.colors = "NoColor"


def run(text):
    """Runs a cell; the result and what it printed."""
    with capture_output() as said:
        result = shell.run_cell(text)
    return result, said


def good(text):
    result, said = run(text)
    assert result.success, f"{text}\n{said.stdout}{said.stderr}"
    return said


def refused(text, *words):
    """The error of a cell, whose message has the words."""
    result, said = run(text)
    error = result.error_in_exec or result.error_before_exec
    assert error is not None, text
    shown = said.stdout + said.stderr
    for word in words:
        assert word in shown, (word, shown)
    return error, shown


def notebook(path):
    with open(path, encoding="utf-8") as f:
        cells = ["".join(c["source"]) for c in json.load(f)["cells"] if c["cell_type"] == "code"]
    assert sum(c.startswith("%%tk") for c in cells) == 1 and sum("matplotlib" in c for c in cells) == 1
    printed = ""
    for cell in cells:
        if "matplotlib" in cell:
            try:
                import matplotlib
            except ImportError:
                print("no matplotlib (python3 -m pip install matplotlib): the plots are not drawn")
                continue
            matplotlib.use("agg")
            warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
        printed += good(cell).stdout
    return shell.user_ns, printed


def check_heat(path):
    space, printed = notebook(path)
    import numpy as np
    error = np.linalg.norm(space["found"] - space["truth"]) / np.linalg.norm(space["truth"])
    blurred = np.linalg.norm(space["m"].seen.data - space["truth"]) / np.linalg.norm(space["truth"])
    assert error < 0.6 * blurred, (error, blurred)
    losses = space["losses"]
    assert len(losses) > 20 and losses[-1] < 1e-2 * losses[0] and space["bar"].progress == len(losses)
    assert "loss " in printed and "error " in printed
    if "plt" in space:
        axes = space["figure"].axes
        assert [len(a.images) for a in axes] == [1, 1, 1, 0] and len(axes[3].lines[0].get_ydata()) == len(losses)


def check_magic():
    text = "param N: i32 = 3;\nconst K = 2.0;\nfield x: real[N] needs_grad;\nkernel run() { for i in x { x[i] *= K; } }\nexport func twice(a: real) -> real { return 2.0 * a; }\n"
    said = good("%%tk one\n" + text)
    data = said.outputs[0].data
    assert data["text/plain"] == "module one; kernels run; functions twice; fields x; params N", data["text/plain"]
    assert "<details>" in data["text/html"] and '<span style="color' in data["text/html"]
    assert shell.user_ns["one"].twice(3) == 6
    assert shell.user_ns["one"].Module().x.dtype == "float32"
    good("%%tk two --real=f64 -D K=5.0 --debug\n" + text)
    m = shell.user_ns["two"].Module()
    m.x = 1
    m.run()
    assert m.x.dtype == "float64" and m.x[0] == 5

    # errors: with colours, and nothing of Python
    error, shown = refused("%%tk three\nfield x: real;\nkernel k() { x = y; }\n", "three.tk:2:", "\033[1;31merror\033[0m", "E0")
    assert type(error).__name__ == "CellError" and error.diagnostics[0]["line"] == 2 and "Traceback" not in shown
    assert "three" not in shell.user_ns
    for wrong in ("%%tk", "%%tk 3x", "%%tk class", "%%tk a -D N", "%%tk a --real=f16", "%%tk a --none"):
        error, _ = refused(f"{wrong}\nfield x: real;\n", "Error")
        assert type(error).__name__ == "UsageError", (wrong, error)
    error, _ = refused("%%tk a --cc 'nowhere -O2'\nfield x: real;\n", "nowhere")
    assert type(error).__name__ == "CellError"


check_heat(sys.argv[1])
check_magic()
print("IPython", IPython.__version__)
