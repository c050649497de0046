"""The magic %%tk of IPython and Jupyter. `%load_ext tkc` adds it; its colours are Pygments'."""
import html
import keyword
import re

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display
from pygments import highlight
from pygments.formatters import HtmlFormatter, Terminal256Formatter

from . import CompileError, compile
from .tk_lexer import TkLexer

# What `tkc` prints of an error: `kernels.tk:3:5: error: ...`, the line, a mark below it.
_HEAD = re.compile(r"^(\S+:\d+:\d+: )(error|warning|note)(: .*)$")
_ANSI = {"error": "\033[1;31m", "warning": "\033[1;35m", "note": "\033[1;36m"}


class CellError(CompileError):
    """An error in a cell, which is shown with colours and without a traceback."""

    def __init__(self, error):
        super().__init__(str(error), error.diagnostics)

    def _render_traceback_(self):
        return list(_coloured(str(self)))


def _coloured(text):
    """The lines of a message, with colours for terminals and notebooks."""
    for line in text.splitlines():
        head = _HEAD.match(line)
        if head:
            yield f"\033[1m{head[1]}\033[0m{_ANSI[head[2]]}{head[2]}\033[0m{head[3]}"
        elif re.fullmatch(r" *\^?~*", line):
            yield f"\033[1;32m{line}\033[0m"
        else:
            yield highlight(line, TkLexer(stripnl=False), Terminal256Formatter()).rstrip("\n")


class Program:
    """What a cell became: a line with its names, and in a notebook the text in colours, folded."""

    def __init__(self, name, text):
        self.name, self.text = name, text

    def __repr__(self):
        kinds = (("kernels", r"^kernel (\w+)"), ("functions", r"^export func (\w+)"), ("fields", r"^field (\w+)"), ("params", r"^param (\w+)"))
        found = ((kind, re.findall(pattern, self.text, re.M)) for kind, pattern in kinds)
        return "; ".join([f"module {self.name}", *(f"{kind} {', '.join(names)}" for kind, names in found if names)])

    def _repr_html_(self):
        code = highlight(self.text, TkLexer(), HtmlFormatter(noclasses=True, nobackground=True))
        return f"<details><summary>{html.escape(repr(self))}</summary>{code}</details>"


def _defines(pairs):
    split = [pair.partition("=") for pair in pairs or ()]
    wrong = next((name for name, equals, _ in split if not equals), None)
    if wrong is not None:
        raise UsageError(f"%%tk -D {wrong}: write {wrong}=VALUE")
    return {name: value for name, _, value in split}


@magics_class
class TkMagics(Magics):
    @magic_arguments()
    @argument("name", help="the variable that becomes the module")
    @argument("--real", default="f32", choices=["f32", "f64"], help="what `real` is")
    @argument("--debug", action="store_true", help="checks of bounds, assertions and races")
    @argument("-D", dest="defines", action="append", metavar="NAME=VALUE", help="another value of a const")
    @argument("-I", dest="include", action="append", metavar="FOLDER", help="a folder for imports")
    @argument("--cc", help="a C compiler with its flags, in quotes")
    @cell_magic
    def tk(self, line, cell):
        """Compiles the cell, a program in .tk, to a module."""
        a = parse_argstring(self.tk, line)
        if not a.name.isidentifier() or keyword.iskeyword(a.name):
            raise UsageError(f"%%tk {a.name}: the name of a variable is wanted")
        try:
            module = compile(cell, name=a.name, real=a.real, debug=a.debug, defines=_defines(a.defines), include=a.include or (), cc=(a.cc or "").strip("\"'") or None)
        except CompileError as error:
            raise CellError(error) from None
        self.shell.push({a.name: module})
        display(Program(a.name, cell))


def load(ipython):
    ipython.register_magics(TkMagics)
