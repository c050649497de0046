"""A program of at least 1,000 lines, made of the kernels of the samples: long.py ROOT prints it."""
import re
import sys
from pathlib import Path

LINES = 1000
ITEM = re.compile(r"^(?:export )?(?:const|param|struct|field|func|kernel) (\w+)", re.M)


def own_names(text, k):
    """The items of a sample with a suffix, so that no name is declared twice."""
    for name in sorted(set(ITEM.findall(text))):
        member = re.search(rf"^struct .*\b{name}:", text, re.M)         # a member has the name, too
        text = re.sub(rf"\b{name}\b" if member else rf"(?<![\w.]){name}\b", f"{name}n{k}", text)
    return text


def long_text(root):
    """Samples one behind the other, until there are so many lines."""
    texts = [t for p in sorted(Path(root).glob("samples/*/*.tk")) if not re.search(r"^(import|lazy_|extern)|\bDIM\b", t := p.read_text(), re.M)]
    parts = []
    while sum(t.count("\n") for t in parts) < LINES:
        parts.append(own_names(texts[len(parts) % len(texts)], len(parts)))
    return "".join(parts)


if __name__ == "__main__":
    print(long_text(sys.argv[1]), end="")
