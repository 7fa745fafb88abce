"""How Sphinx makes the documentation: ``make docs``."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

import hedgeclipper

project = "HedgeClipper"
author = copyright = "The HedgeClipper developers"
version = release = hedgeclipper.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build"]
default_role = "py:obj"

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
autodoc_typehints = "none"
numpydoc_show_class_members = False
autosummary_generate = True
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_title = project
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_math_renderer = "mathml"
html_theme_options: dict[str, Any] = {
    "logo": {"image_light": "_static/logo.svg", "image_dark": "_static/logo.svg", "text": project},
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "show_prev_next": False,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
# It stands alone, with no pages below it to go to.
html_sidebars = {"index": []}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": "plot_",
    "capture_repr": (),
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "write_computation_times": False,
}
# Agg draws without a display; the gallery saves the pictures by itself.
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")


def is_foreign(
    app: Any, what: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    """Return whether a member comes from elsewhere, so that its own page is elsewhere too."""
    function = getattr(member, "fget", member)
    module = getattr(function, "__module__", None) or ""
    return None if module.startswith("hedgeclipper") else True


def drop_last_blank_lines(app: Any, page: str, source: list[str]) -> None:
    """Take away the empty line that a doctest needs at the end of its block."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")


def link_names(app: Any, page: str, source: list[str]) -> None:
    """Link public names in the sentences of Markdown pages to the reference."""
    if Path(app.env.doc2path(page)).suffix != ".md":
        return
    names = "|".join(hedgeclipper.__all__)
    blocks = re.split(r"(^`{3,}.*?^`{3,}[ ]*$)", source[0], flags=re.DOTALL | re.MULTILINE)
    # headings and links keep their text
    pattern = rf"(?<![`\[])`({names})`(?![`\]])"
    for place in range(0, len(blocks), 2):
        lines = blocks[place].split("\n")
        blocks[place] = "\n".join(
            line
            if line.startswith("#")
            else re.sub(pattern, r"{py:obj}`\1 <hedgeclipper.\1>`", line)
            for line in lines
        )
    source[0] = "".join(blocks)


def visit_math(writer: Any, node: nodes.math) -> None:
    """Write a formula within a line as MathML, which browsers draw without a script."""
    writer.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def visit_math_block(writer: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own as MathML."""
    writer.body.append(f'<div class="formula">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> None:
    """Tell Sphinx about the functions of this file."""
    app.connect("autodoc-skip-member", is_foreign)
    app.connect("source-read", drop_last_blank_lines)
    app.connect("source-read", link_names)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
