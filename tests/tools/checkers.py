"""Where the C of the checkers is: the scripts that compile one have its files from here."""
from pathlib import Path

TOOLS = Path(__file__).resolve().parent


def sources(name):
    """The C files of tools/NAME: those of the folder, or the one of that name."""
    folder = TOOLS / name
    return sorted(folder.glob("*.c")) if folder.is_dir() else [TOOLS / f"{name}.c"]
