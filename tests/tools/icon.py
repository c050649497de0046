#!/usr/bin/env python3
"""The icon of the VS Code extension, docs/editors/vscode/icon.png: the letters tk on a round square.

    icon.py ROOT            ends with status 1 if the file shows anything else
    icon.py ROOT --update   writes it
"""
import struct
import sys
import zlib
from pathlib import Path

SIZE = 128
TOP, BOTTOM, INK = (20, 92, 140), (16, 44, 84), (245, 247, 250)
CORNER, THICK = 26.0, 6.0
STROKES = [((38, 30), (38, 86)), ((38, 86), (47, 98)), ((47, 98), (58, 98)), ((24, 50), (58, 50)),          # t
           ((74, 28), (74, 98)), ((74, 76), (102, 50)), ((84, 68), (104, 98))]                              # k


def stroke_distance(x, y, a, b):
    dx, dy = b[0] - a[0], b[1] - a[1]
    t = max(0.0, min(1.0, ((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy)))
    return ((x - a[0] - t * dx) ** 2 + (y - a[1] - t * dy) ** 2) ** 0.5 - THICK


def square_distance(x, y):
    half = SIZE / 2 - CORNER
    dx, dy = max(abs(x - SIZE / 2) - half, 0.0), max(abs(y - SIZE / 2) - half, 0.0)
    return (dx * dx + dy * dy) ** 0.5 - CORNER


def cover(distance):
    return max(0.0, min(1.0, 0.5 - distance))


def pixel(i, j):
    x, y = i + 0.5, j + 0.5
    ink = max(cover(stroke_distance(x, y, *s)) for s in STROKES)
    ground = [a + (b - a) * y / SIZE for a, b in zip(TOP, BOTTOM)]
    return bytes([*(round(g + (w - g) * ink) for g, w in zip(ground, INK)), round(255 * cover(square_distance(x, y)))])


def rows():
    """Each with the number of its filter in front, 0: none."""
    return b"".join(b"\0" + b"".join(pixel(i, j) for i in range(SIZE)) for j in range(SIZE))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(raw):
    header = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 6, 0, 0, 0)     # 8 bits each of red, green, blue and alpha
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")


def read(data):
    """Width, height and rows of a PNG as `png` writes it; None: it is another one."""
    found, at = {}, 8
    while data[:8] == b"\x89PNG\r\n\x1a\n" and at + 12 <= len(data):
        n = struct.unpack(">I", data[at:at + 4])[0]
        found[data[at + 4:at + 8]] = data[at + 8:at + 8 + n]
        at += 12 + n
    if b"IHDR" not in found or b"IDAT" not in found or found[b"IHDR"][8:] != bytes([8, 6, 0, 0, 0]):
        return None
    return (*struct.unpack(">II", found[b"IHDR"][:8]), zlib.decompress(found[b"IDAT"]))


def main():
    file = Path(sys.argv[1]) / "docs/editors/vscode/icon.png"
    if "--update" in sys.argv:
        file.write_bytes(png(rows()))
    elif not file.exists() or read(file.read_bytes()) != (SIZE, SIZE, rows()):
        sys.exit(f"{file}: out of date; run tests/tools/icon.py . --update")


if __name__ == "__main__":
    main()
