#!/usr/bin/env python3
"""Prints the files of the samples that are installed: samples.py FOLDER.

Folders of builds, generated C and results of programs are left out, so a tree in which samples were built installs the
same files.
"""
import sys
from pathlib import Path

SUFFIXES = {".tk", ".c", ".h", ".md", ".mk", ".py", ".ipynb", ".build"}
NAMES = {"Makefile", "expected", "measurements.csv", "initial.csv", "requirements.txt"}


def main():
    root = Path(sys.argv[1])
    for path in sorted(root.glob("*/*")):
        generated = path.suffix in (".c", ".h") and path.with_suffix(".tk").exists()
        if path.is_file() and not generated and (path.suffix in SUFFIXES or path.name in NAMES):
            print(path.relative_to(root).as_posix())


main()
