"""What two executables of one module compute from the same data, as tools/adcheck.c writes it with --values."""
import math
import struct
from pathlib import Path

WHAT = ["value", "gradient", "JVP", "value computed by the JVP", "second-order product"]


def read(path):
    """{(kernel, what): numbers}"""
    data, at, found = Path(path).read_bytes(), 0, {}
    while at < len(data):
        kernel, what, n = struct.unpack_from("<3q", data, at)
        found[kernel, what] = struct.unpack_from(f"<{n}d", data, at + 24)
        at += 24 + 8 * n
    return found


def same_bits(a, b):
    return struct.pack(f"<{len(a)}d", *a) == struct.pack(f"<{len(b)}d", *b)


def apart(a, b, tolerance):
    """Number of the component that differs most beyond tolerance * (the largest number of both), or None. What is not finite must not be so in both."""
    scale = max((abs(x) for x in (*a, *b) if math.isfinite(x)), default=0.0)
    worst, at = 0.0, None
    for j, (x, y) in enumerate(zip(a, b)):
        if math.isfinite(x) != math.isfinite(y) or (not math.isfinite(x) and str(x) != str(y)):
            return j
        d = abs(x - y) if math.isfinite(x) else 0.0
        if d > tolerance * scale and d > worst:
            worst, at = d, j
    return at


def differences(first, second, tolerance_of):
    """Lines about kernels of which the two files disagree: [(kernel, text)]. tolerance_of(kernel): 0 asks for the same bits."""
    found = []
    if first.keys() != second.keys():
        return [(k, "one of the two has no such result") for k, _ in first.keys() ^ second.keys()]
    for (kernel, what), a in first.items():
        b, tolerance = second[kernel, what], tolerance_of(kernel)
        if same_bits(a, b):
            continue
        j = apart(a, b, tolerance)
        if j is None and not tolerance:
            j = next(i for i in range(len(a)) if not same_bits(a[i:i + 1], b[i:i + 1]))
        if j is not None:
            found.append((kernel, f"{WHAT[what]}, component {j} of {len(a)}: {a[j]!r} and {b[j]!r}"))
    return found
