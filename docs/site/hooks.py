"""What MkDocs is told beside mkdocs.yml: the lexer of .tk files, and ids of headings as hosts of repositories make them, which the pages' links name."""
import os
import re
import sys

import pygments.lexers
from pygments.lexers import _mapping

sys.path.append(os.environ["TKC_EDITORS"])
import tk_lexer

_mapping.LEXERS["TkLexer"] = ("tk_lexer", "tk", ("tk",), ("*.tk",), ())
pygments.lexers.LEXERS = _mapping.LEXERS
assert isinstance(pygments.lexers.get_lexer_by_name("tk"), tk_lexer.TkLexer)


def slug(text, _separator):
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def on_config(config):
    config.mdx_configs["toc"] = {**config.mdx_configs.get("toc", {}), "slugify": slug}
    return config
