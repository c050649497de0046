"""What MkDocs is told beside mkdocs.yml: the lexer of .tk files, and ids of headings as hosts of repositories make them, which the pages' links name."""
import itertools
import os
import re
import sys
from html import escape, unescape

import pygments.lexers
from mkdocs.utils import get_relative_url
from pygments.lexers import _mapping

sys.path.append(os.environ["TKC_EDITORS"])
import tk_lexer

_mapping.LEXERS["TkLexer"] = ("tk_lexer", "tk", ("tk",), ("*.tk",), ())
pygments.lexers.LEXERS = _mapping.LEXERS
assert isinstance(pygments.lexers.get_lexer_by_name("tk"), tk_lexer.TkLexer)

SHIM = re.compile(r'https://[^"]*/iframe-worker/shim')


def slug(text, _separator):
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def on_config(config):
    config.mdx_configs["toc"] = {**config.mdx_configs.get("toc", {}), "slugify": slug}
    return config


INSIDE = re.compile(r"^(inside/|architecture|tests[/.])")


def on_page_markdown(markdown, page, **_):
    """Pages for developers of tkc come last in searches."""
    if INSIDE.match(page.file.src_path):
        page.meta["search"] = {"boost": 1e-4}
    return markdown


def cells(row, kind):
    return re.findall(rf"<{kind}\b[^>]*>(.*?)</{kind}>", row, re.S)


def stacked(table):
    """Marks a table of at most three columns whose rows are longer than a line of a telephone: site.css puts their cells below each other, with their heads."""
    heads = cells(table[0], "th")
    rows = re.findall(r"<tr>.*?</tr>", table[0], re.S)
    longest = max(sum(len(unescape(re.sub(r"<[^>]*>", "", c))) for c in cells(row, "td")) for row in rows)
    if len(heads) > 3 or longest <= 40:
        return table[0]
    text = table[0].replace("<table>", "<table data-stack>", 1)
    if len(heads) == 3:
        column = itertools.count()
        labels = [escape(re.sub(r"<[^>]*>", "", h)) for h in heads]
        text = re.sub(r"<td\b", lambda _: f'<td data-head="{labels[k % 3]}"' if (k := next(column)) % 3 else "<td", text)
    return text


def parts(html):
    """What the search takes beside the words of a page: `gradcheck`, where the page has tk_gradcheck alone."""
    text = unescape(re.sub(r"<[^>]*>", "", html)).lower()
    found = {part for name in re.findall(r"[a-z]\w*_\w+", text) for part in name.split("_") if len(part) > 3 and not part.isdigit()}
    return f"<p hidden>{' '.join(sorted(found - set(re.findall(r'[a-z0-9_]+', text))))}</p>"


def on_page_content(html, **_):
    """Short code is not broken: `--window` would be, behind its first dash. Tables are marked, and words added for the search."""
    html = re.sub(r"<table>.*?</table>", stacked, html, flags=re.S) + parts(html)
    return re.sub(r"<code>([^\s<]{1,28})</code>", r'<code class="short">\1</code>', html)


def on_post_page(output, page, config):
    """What the theme takes from another host, for a search without a server, is here."""
    return SHIM.sub(get_relative_url("theme/worker.js", page.url), output)


def on_post_template(output_content, **_):
    return SHIM.sub("theme/worker.js", output_content)
