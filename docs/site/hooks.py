"""What MkDocs is told beside mkdocs.yml: the lexer of .tk files, and ids of headings as hosts of repositories make them, which the pages' links name."""
import os
import re
import sys

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


INSIDE = re.compile(r"^(architecture|adding-an-op|style|testing|contributing|tests/)")


def on_page_markdown(markdown, page, **_):
    """Pages for developers of tkc come last in searches."""
    if INSIDE.match(page.file.src_path):
        page.meta["search"] = {"boost": 0.2}
    return markdown


def on_page_content(html, **_):
    """Short code is not broken: `--window` would be, behind its first dash."""
    return re.sub(r"<code>([^\s<]{1,28})</code>", r'<code class="short">\1</code>', html)


def on_post_page(output, page, config):
    """What the theme takes from another host, for a search without a server, is here."""
    return SHIM.sub(get_relative_url("theme/worker.js", page.url), output)


def on_post_template(output_content, **_):
    return SHIM.sub("theme/worker.js", output_content)
