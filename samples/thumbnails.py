#!/usr/bin/env python3
"""Makes docs/gallery/six.png, six pictures of the gallery side by side, with Pillow from PyPI.

    thumbnails.py OUT.png
"""
import sys
from pathlib import Path

from PIL import Image, ImageOps

# A picture of docs/, and its part: left, upper, right, lower.
PICTURES = [("gallery/wave", (518, 296, 756, 530)), ("gallery/cloth", (768, 268, 1008, 484)), ("gravity", (0, 0, 900, 900)),
            ("gallery/smoke", (528, 296, 764, 530)), ("gallery/diffmpm3d", (264, 196, 506, 338)), ("gallery/water_renderer", (768, 296, 1006, 530))]
COLUMNS, WIDTH, HEIGHT, GAP = 3, 300, 200, 6


def main():
    docs = Path(__file__).resolve().parent.parent / "docs"
    rows = len(PICTURES) // COLUMNS
    sheet = Image.new("RGB", (COLUMNS * (WIDTH + GAP) - GAP, rows * (HEIGHT + GAP) - GAP), "white")
    for k, (name, part) in enumerate(PICTURES):
        with Image.open(docs / f"{name}.png") as picture:
            small = ImageOps.fit(picture.convert("RGB").crop(part), (WIDTH, HEIGHT), Image.Resampling.LANCZOS)
        sheet.paste(small, (k % COLUMNS * (WIDTH + GAP), k // COLUMNS * (HEIGHT + GAP)))
    sheet.quantize(128).save(sys.argv[1], optimize=True)


if __name__ == "__main__":
    main()
