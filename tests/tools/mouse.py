#!/usr/bin/env python3
"""Types and drags in a program's window, on the X server that $DISPLAY names: mouse.py LIBRARY WORD... -- COMMAND...

LIBRARY is tests/tools/frames.c: frames of the program pass when a word says so, and each word is done when the program has its event. Words: a key's name
(space, q, Up), down X Y, to X Y, up, frames N, interrupt; X and Y are pixels of the window. The last word ends the program. The status is the program's.
Needs libX11 and libXtst.
"""
import ctypes
import os
import signal
import subprocess
import sys

KEY, MOTION, PRESS, RELEASE = "300", "400", "401", "402"      # of SDL_events.h
x11 = ctypes.CDLL("libX11.so.6")
xtst = ctypes.CDLL("libXtst.so.6")
x11.XOpenDisplay.restype = ctypes.c_void_p
x11.XStringToKeysym.restype = ctypes.c_ulong
x11.XDefaultRootWindow.restype = ctypes.c_ulong


class Attributes(ctypes.Structure):
    """XWindowAttributes, of which the place and the last but seven, map_state, are read."""
    _fields_ = [(n, ctypes.c_int) for n in ("x", "y", "width", "height", "border", "depth")] + [
        ("visual", ctypes.c_void_p), ("root", ctypes.c_ulong), *((n, ctypes.c_int) for n in ("cls", "bit", "win", "store")),
        ("planes", ctypes.c_ulong), ("pixel", ctypes.c_ulong), ("under", ctypes.c_int), ("colormap", ctypes.c_ulong),
        ("installed", ctypes.c_int), ("map_state", ctypes.c_int), ("rest", ctypes.c_long * 8)]


def window(display):
    """Place of the shown window."""
    root, parent, children, count = ctypes.c_ulong(), ctypes.c_ulong(), ctypes.POINTER(ctypes.c_ulong)(), ctypes.c_uint()
    x11.XQueryTree(display, ctypes.c_ulong(x11.XDefaultRootWindow(display)), *map(ctypes.byref, (root, parent, children, count)))
    for k in range(count.value):
        at = Attributes()
        x11.XGetWindowAttributes(display, ctypes.c_ulong(children[k]), ctypes.byref(at))
        if at.map_state == 2 and at.width > 300:
            return at
    sys.exit("the program draws frames, and shows no window")


class Program:
    def __init__(self, library, command):
        (letters, self.letters), (self.lines, lines) = os.pipe(), os.pipe()
        env = {**os.environ, "LD_PRELOAD": library, "FRAMES": f"{letters} {lines}"}
        self.process = subprocess.Popen(command, env=env, pass_fds=(letters, lines))
        os.close(letters)
        os.close(lines)
        self.lines = os.fdopen(self.lines)
        self.line("frame")

    def line(self, wanted):
        """Reads up to a line that begins so."""
        for line in self.lines:
            if line.startswith(wanted):
                return
            assert line != "frame\n", f"the program ends a frame before {wanted}"
            os.write(self.letters, b"e")
        sys.exit(f"the program ended with status {self.process.wait()} before '{wanted}'")

    def event(self, wanted):
        os.write(self.letters, b"e")
        self.line(wanted)

    def frame(self):
        os.write(self.letters, b"f")
        self.line("frame")


def main(library, words, command):
    program = Program(library, command)
    display = ctypes.c_void_p(x11.XOpenDisplay(None))
    at = window(display)

    def move(x, y):
        xtst.XTestFakeMotionEvent(display, -1, at.x + int(x), at.y + int(y), ctypes.c_ulong(0))
        x11.XSync(display, 0)
        program.event(f"{MOTION} {x} {y}\n")

    def button(down):
        xtst.XTestFakeButtonEvent(display, 1, down, ctypes.c_ulong(0))
        x11.XSync(display, 0)
        program.event(PRESS if down else RELEASE)

    def key(name):
        symbol = ctypes.c_ulong(x11.XStringToKeysym(name.encode()))
        code = x11.XKeysymToKeycode(display, symbol)
        for down in True, False:
            xtst.XTestFakeKeyEvent(display, code, down, ctypes.c_ulong(0))
        x11.XSync(display, 0)
        program.event(KEY)

    move(5, 5)
    words = iter(words)
    for word in words:
        if word == "frames":
            for _ in range(int(next(words))):
                program.frame()
        elif word == "down":
            move(next(words), next(words))
            button(True)
        elif word == "to":
            move(next(words), next(words))
        elif word == "up":
            button(False)
        elif word == "interrupt":
            program.process.send_signal(signal.SIGINT)
            os.write(program.letters, b"f")
        else:
            key(word)
    for line in program.lines:
        assert line != "frame\n", "the program goes on behind the last word"
    sys.exit(program.process.wait())


split = sys.argv.index("--")
main(sys.argv[1], sys.argv[2:split], sys.argv[split + 1:])
