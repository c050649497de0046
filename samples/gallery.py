#!/usr/bin/env python3
"""docs/gallery.md, and docs/gallery.html, which is one file with all pictures in it: gallery.py [--check]

Of each sample with a file `expected`: its README's title, its text below or else the first paragraph of its README, lines of code, and what docs/gallery/NAME.txt says of its run at full size (samples/gallery.sh).
With --check, says what is out of date, and changes nothing.
"""
import base64
import html
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GALLERY = ROOT / "docs" / "gallery"
ORDER = ["mass_spring", "rigid_body", "billiards", "diffmpm", "diffmpm3d", "liquid", "smoke", "wave", "water_renderer", "volume_renderer", "electric",
         "fem", "mpm_forces", "splats", "sph", "cloth", "ocean"]
TITLE = "A wave, cloth, orbits, smoke, a soft robot and water that were optimised by gradients"
HEAD = """Each picture shows the first and the optimised episode, and the loss. [Figures](#figures) has times.
`sh samples/demo.sh NAME` builds and runs a sample; with tkc installed, run `make` in its folder. `--window` opens a window, `--help` lists options, `--check` compares the gradient with differences.
[Where to start](start.md#which-one-to-begin-with) names the sample nearest to your problem."""

FIGURES = """Times of one episode forward and back: f32, one thread, clang 14, AMD EPYC (Zen 5), a shared virtual machine. Memory is fields and tape. `sh samples/gallery.sh` makes this page."""

BESIDE = """Time of tkc / time of the other: gradient of one episode, f32, one thread, the same data. In f64 losses and gradients are equal to rounding. [The comparison](../tests/bench/peers/README.md) has programs, times and reasons."""

TEXT = {
    "mass_spring": "A robot of points and springs walks to the goal. A network, whose weights are trained, sets the springs' lengths in 682 steps.",
    "rigid_body": "A robot of boxes with motors. Its network is trained through all impacts of 2,048 steps.",
    "billiards": "A cue ball's position and velocity are optimised so that the last of ten balls reaches the goal. The *time of impact* is differentiated, too.",
    "diffmpm": "An elastic robot walks on two legs, with contact and friction. Weights of its muscles' sines, 20 in all, are optimised. `--throw` throws a soft body.",
    "diffmpm3d": "The same in 3-D, on four legs with 80 weights, through 320 steps, or 512 at full size.",
    "liquid": "The robot of [diffmpm](../samples/diffmpm/README.md) swims in a fluid of its own density.",
    "smoke": "The initial velocity of air in 128 x 128 cells is optimised so that three discs of smoke become letters in 100 steps. Arrows are velocities.",
    "wave": "The initial height of a membrane, 256 x 256 points, is optimised so that it shows letters after 256 steps.",
    "water_renderer": "The membrane of [wave](../samples/wave/README.md) is water over tiles. Its refracted picture after 256 steps shows letters.",
    "volume_renderer": "The 110,592 densities of a glowing, absorbing cloud are found from images of seven cameras.",
    "electric": "A network with 1,096 weights sets the charges of eight electrodes, so that a charged body follows the goal.",
    "fem": "A soft block falls onto a ball. Nothing is optimised: the gradient of an energy gives the forces.",
    "mpm_forces": "Two elastic discs collide, by the material point method. Forces on grid nodes are derivatives of the elastic energy.",
    "splats": "Places, widths, angles, colours and opacities of 1,200 Gaussians in the plane are optimised to show an image.",
    "sph": "A piston makes waves in water particles. Its motion is optimised so that the water at the goal has a given depth.",
    "cloth": "Velocity and spin of a thrown cloth are optimised so that it hangs over a ball.",
    "ocean": "Heights of the bottom in 96 x 96 cells are found from the surface of shallow water. `mpirun` divides the cells between processes.",
}


def lines(paths):
    return sum(len(p.read_text().splitlines()) for p in paths)


def of_readme(name):
    text = (ROOT / "samples" / name / "README.md").read_text()
    title, rest = text.split("\n", 1)
    paragraph = rest.strip().split("\n\n")[0].replace("\n", " ")
    return title.lstrip("# ").strip(), paragraph


def of_run(name):
    """What the program said: loss before and after, milliseconds, megabytes."""
    path = GALLERY / f"{name}.txt"
    said = path.read_text() if path.exists() else ""
    loss = re.search(r"loss (\S+) before, (\S+) after (\d+) iterations", said)
    cost = re.search(r"([\d.]+) ms an episode, ([\d.]+) MB", said)
    return loss.groups() if loss else None, cost.groups() if cost else None


def number(text):
    x = float(text)
    return f"{x:,.0f}" if abs(x) >= 100 else f"{x:.3g}"


def files_of(source):
    """A .tk file, and what it imports."""
    found, todo = [], [source.resolve()]
    while todo:
        f = todo.pop()
        if f not in found:
            found.append(f)
            todo += [(f.parent / name).resolve() for name in re.findall(r'^import "([^"]+)";', f.read_text(), re.M)]
    return found


def parameters(folder):
    """The fields by which it differentiates, as its host names them."""
    found = re.findall(r'\{((?:"\w+",\s*)+)NULL\}', (folder / "main.c").read_text())
    names = re.findall(r'"(\w+)"', " ".join(found))
    return ", ".join(f"`{n}`" for n in dict.fromkeys(names))


def rows():
    names = [n for n in ORDER if (ROOT / "samples" / n / "expected").exists()]
    names += sorted(p.parent.name for p in (ROOT / "samples").glob("*/expected") if p.parent.name not in ORDER)
    for name in names:
        folder = ROOT / "samples" / name
        loss, cost = of_run(name)
        yield {"name": name, "title": of_readme(name)[0], "text": TEXT.get(name) or linked(of_readme(name)[1], name), "tk": lines(files_of(folder / f"{name}.tk")), "by": parameters(folder), "c": lines(folder.glob("*.c")),
               "loss": f"{number(loss[0])} to {number(loss[1])}, {loss[2]} iterations" if loss else "", "ms": number(cost[0]) if cost else "", "mb": number(cost[1]) if cost else ""}


def linked(text, name):
    """The links of a README, from the page."""
    def path(m):
        return "](" + os.path.relpath(ROOT / "samples" / name / m[1], ROOT / "docs") + ")"
    return re.sub(r"\]\((?!https?:)([^)]*)\)", path, text)


def beside():
    """Of the table that tests/bench/peers/run.sh printed: ratios of the gradients of samples on one thread."""
    out = ["| sample | tkc / JAX | tkc / Taichi |", "| --- | --- | --- |"]
    for row in (ROOT / "tests" / "bench" / "peers" / "README.md").read_text().splitlines():
        cells = [c.strip() for c in row.strip("|").split("|")]
        if len(cells) > 9 and cells[0] in ORDER and cells[3:5] == ["1", "gradient"]:
            ours, *others = [float(c) if c else 0.0 for c in cells[5:8]]
            out.append(f"| {cells[0]} | " + " | ".join(f"{ours / t:.2f}" if t else "" for t in others) + " |")
    return out


def table(markdown_rows):
    """As HTML."""
    cells = [[inline(c.strip()) for c in row.strip("|").split("|")] for row in markdown_rows if not row.startswith("| ---")]
    return ["<table><tr>" + "".join(f"<th>{c}" for c in cells[0]) + "</tr>", *("<tr>" + "".join(f"<td>{c}" for c in row) + "</tr>" for row in cells[1:]), "</table>"]


def markdown(all_rows):
    out = ["# Gallery", "", f"![{TITLE}](gallery/six.png)", "", HEAD]
    for r in all_rows:
        out += ["", f"## {r['name']}", ""]
        if (GALLERY / f"{r['name']}.png").exists():
            out += [f"![{r['title']}](gallery/{r['name']}.png)", ""]
        out += [f"{r['text']} [More](../samples/{r['name']}/README.md)"]
    out += ["", "## Figures", "", FIGURES, "", "| sample | differentiated by | loss | ms an episode | MB | lines of .tk | lines of C |", "| --- | --- | --- | --- | --- | --- | --- |"]
    out += [f"| [{r['name']}](#{r['name']}) | {r['by'] or 'state: forces'} | {r['loss']} | {r['ms']} | {r['mb']} | {r['tk']} | {r['c']} |" for r in all_rows]
    out += ["", "## Beside Taichi and JAX", "", BESIDE, "", *beside()]
    return "\n".join(out) + "\n"


def inline(text):
    text = html.escape(text)
    text = re.sub(r"`([^`]*)`", r"<code>\1</code>", text)
    text = re.sub(r"\[([^\]]*)\]\(([^)]*)\)", r"\1", text)
    return re.sub(r"\*\*?([^*]+)\*\*?", r"<em>\1</em>", text)


def picture(name, title):
    """The picture itself, inside of the page."""
    path = GALLERY / f"{name}.png"
    return [f'<img alt="{html.escape(title)}" src="data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}">'] if path.exists() else []


def page(all_rows):
    style = ("body{font:16px/1.5 sans-serif;max-width:62em;margin:2em auto;padding:0 1em;color:#333}img{width:100%;max-width:1020px}table{border-collapse:collapse}"
             "td,th{text-align:left;padding:.2em .8em;border-bottom:1px solid #ddd}code{background:#f4f2ec;padding:0 .2em}h2{margin-top:2.5em}")
    out = [f"<!DOCTYPE html><html lang=en><meta charset=utf-8><title>tkc: gallery</title><style>{style}</style><h1>tkc: gallery</h1>", *picture("six", TITLE)]
    out += [f"<p>{inline(p)}</p>" for p in HEAD.split("\n")]
    for r in all_rows:
        out += [f"<h2 id={r['name']}>{html.escape(r['title'])}</h2>", *picture(r["name"], r["title"])]
        out += [f"<p>{inline(r['text'])}</p><p><code>sh samples/demo.sh {r['name']}</code></p>"]
    out += [f"<h2 id=figures>Figures</h2><p>{inline(FIGURES)}</p>"]
    out.append("<table><tr><th>sample<th>differentiated by<th>loss<th>ms an episode<th>MB<th>lines of .tk<th>lines of C</tr>")
    out += [f"<tr><td><a href=#{r['name']}>{r['name']}</a><td>{inline(r['by'] or 'state: forces')}<td>{r['loss']}<td>{r['ms']}<td>{r['mb']}<td>{r['tk']}<td>{r['c']}</tr>" for r in all_rows]
    out += ["</table>", f"<h2>Beside Taichi and JAX</h2><p>{inline(BESIDE)}</p>", *table(beside())]
    return "\n".join(out) + "\n"


def main():
    all_rows = list(rows())
    status = 0
    for path, text in ((ROOT / "docs" / "gallery.md", markdown(all_rows)), (ROOT / "docs" / "gallery.html", page(all_rows))):
        if "--check" not in sys.argv:
            path.write_text(text)
        elif path.suffix == ".md" and (not path.exists() or path.read_text() != text):
            print(f"{path.relative_to(ROOT)} is out of date; run python3 samples/gallery.py")
            status = 1
    if "--check" in sys.argv:
        for r in all_rows:
            for need, what in ((GALLERY / f"{r['name']}.png", "no picture"), (GALLERY / f"{r['name']}.txt", "no figures")):
                if not need.exists():
                    print(f"{r['name']}: {what}; run sh samples/gallery.sh {r['name']}")
                    status = 1
    return status


sys.exit(main())
