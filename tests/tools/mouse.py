#!/usr/bin/env python3
"""Types and drags in the one window of an X server, which $DISPLAY names: mouse.py WORD...

Words: a key's name (space, q, Up), down X Y, to X Y, up, wait SECONDS; X and Y are pixels of the window. First waits until there is a window. Needs libX11 and libXtst.
"""
import ctypes
import sys
import time

x11 = ctypes.CDLL("libX11.so.6")
xtst = ctypes.CDLL("libXtst.so.6")
x11.XOpenDisplay.restype = ctypes.c_void_p
x11.XStringToKeysym.restype = ctypes.c_ulong
x11.XDefaultRootWindow.restype = ctypes.c_ulong
ignore = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda display, error: 0)
x11.XSetErrorHandler(ignore)                # a window may be gone before it was asked for its place


class Attributes(ctypes.Structure):
    """XWindowAttributes, of which the place and the last but seven, map_state, are read."""
    _fields_ = [(n, ctypes.c_int) for n in ("x", "y", "width", "height", "border", "depth")] + [
        ("visual", ctypes.c_void_p), ("root", ctypes.c_ulong), *((n, ctypes.c_int) for n in ("cls", "bit", "win", "store")),
        ("planes", ctypes.c_ulong), ("pixel", ctypes.c_ulong), ("under", ctypes.c_int), ("colormap", ctypes.c_ulong),
        ("installed", ctypes.c_int), ("map_state", ctypes.c_int), ("rest", ctypes.c_long * 8)]


def window(display):
    """Place of the shown window, waiting for it."""
    root, parent, children, count = ctypes.c_ulong(), ctypes.c_ulong(), ctypes.POINTER(ctypes.c_ulong)(), ctypes.c_uint()
    for _ in range(200):
        x11.XQueryTree(display, ctypes.c_ulong(x11.XDefaultRootWindow(display)), *map(ctypes.byref, (root, parent, children, count)))
        for k in range(count.value):
            at = Attributes()
            x11.XGetWindowAttributes(display, ctypes.c_ulong(children[k]), ctypes.byref(at))
            if at.map_state == 2 and at.width > 300:
                return at
        time.sleep(0.05)
    sys.exit("no window appears")


def main(words):
    display = ctypes.c_void_p(x11.XOpenDisplay(None))
    if not display:
        sys.exit("no X server")
    at = window(display)

    def move(x, y):
        xtst.XTestFakeMotionEvent(display, -1, at.x + int(x), at.y + int(y), ctypes.c_ulong(0))

    time.sleep(0.3)
    move(5, 5)
    words = iter(words)
    for word in words:
        if word == "wait":
            time.sleep(float(next(words)))
            continue
        if word in ("down", "to"):
            move(next(words), next(words))
        if word in ("down", "up"):
            xtst.XTestFakeButtonEvent(display, 1, word == "down", ctypes.c_ulong(0))
        elif word != "to":
            code = x11.XKeysymToKeycode(display, ctypes.c_ulong(x11.XStringToKeysym(word.encode())))
            xtst.XTestFakeKeyEvent(display, code, 1, ctypes.c_ulong(0))
            xtst.XTestFakeKeyEvent(display, code, 0, ctypes.c_ulong(0))
        x11.XSync(display, 0)
        time.sleep(0.05)


main(sys.argv[1:])
