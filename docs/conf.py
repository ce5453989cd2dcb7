"""Sphinx: `make docs` builds build/docs/index.html, with every warning an error."""

import re
from pathlib import Path

import saccade
from saccade.report.study import page_text
from saccade.studies import STUDIES

project = "saccade"
author = "The saccade authors"
version = release = saccade.__version__
copyright = author

extensions = [
    "myst_parser", "sphinx.ext.autodoc", "sphinx.ext.apidoc", "sphinx.ext.viewcode",
    "sphinx-mathjax-offline",  # formulas without a request to anywhere
    "sphinx_gallery.gen_gallery"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
# The pages are read on the code forge too, where links lead to files; Sphinx finds the same files.
suppress_warnings = ["myst.xref_missing", "config.cache", "ref.python"]
exclude_patterns = [
    "_build", "gallery/*.ipynb", "gallery/*.py", "gallery/*.zip", "gallery/*.md5",
    "sg_execution_times.rst", "gallery/sg_execution_times.rst"]
html_theme = "pydata_sphinx_theme"
html_title = "saccade"
html_theme_options = {
    "navigation_with_keys": True, "show_toc_level": 2, "secondary_sidebar_items": ["page-toc"]}
html_show_sourcelink = False

apidoc_modules = [{
    "path": "../src/saccade", "destination": "api",
    "exclude_patterns": [
        "../src/saccade/__main__.py", "../src/saccade/studies/*/explore.py",
        "../src/saccade/cli/*"],
    "separate_modules": False, "max_depth": 2, "include_private": False,
    "automodule_options": {"members", "undoc-members", "ignore-module-all"}}]
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
# A name that a package re-exports is described where it is defined.
autodoc_default_options = {"ignore-module-all": True}

sphinx_gallery_conf = {
    "examples_dirs": "../examples", "gallery_dirs": "gallery", "filename_pattern": r"/plot_",
    "abort_on_example_error": True, "show_memory": False, "download_all_examples": False,
    "min_reported_time": 1e9}


# A study's page lies in its folder; the documentation shows all of them.
PAGES = Path(__file__).parent / "studies"
PAGES.mkdir(exist_ok=True)
for study in STUDIES:
    (PAGES / f"{study}.md").write_text(
        page_text(STUDIES[study]).replace("../../../../docs/", "../"), encoding="utf-8")


def _plain(line: str) -> str:
    """A line of prose that says formulas in plain characters, safe from being read as markup."""
    if line.count("`") % 2:  # a name broken over two lines
        return re.sub(r"([\\*|_`])", r"\\\1", line)
    pieces = re.split(r"(`[^`]+`)", line)
    return "".join(
        f"`{piece}`" if piece.startswith("`") else re.sub(r"([\\*|_`])", r"\\\1", piece)
        for piece in pieces)


def readable_docstring(app, what, name, obj, options, lines) -> None:
    """Our docstrings are plain text: paragraphs, indented examples, formulas. Indented blocks are
    shown as they stand."""
    out: list[str] = []
    literal = False
    for line in lines:
        indented = line.startswith("    ") and bool(line.strip())
        if indented and not literal:
            out += ["", "::", ""]
            literal = True
        elif literal and line.strip() and not indented:
            out.append("")
            literal = False
        out.append(line if literal else _plain(line.strip()))
    lines[:] = [*out, ""]


def setup(app) -> None:
    app.connect("autodoc-process-docstring", readable_docstring)
