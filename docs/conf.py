"""Settings of the documentation site, which `make docs` builds with Sphinx."""

import os
import re
import sys
from pathlib import Path

from docutils import nodes
from nbclient import NotebookClient

import rosenblatt

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
# pages run the command `rosenblatt` of the environment that builds them
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

project = "rosenblatt"
author = "the rosenblatt developers"
copyright = f"2026, {author}. BSD-3-Clause"
version = release = rosenblatt.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "mathml",
    "command_line",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
smartquotes = False  # "--out" is an option, not a dash

# Markdown
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

# pages with code cells are run when they are built
nb_execution_mode = "inline"
nb_execution_raise_on_error = False  # a warning, and the build goes on to the next page
nb_execution_timeout = 60
nb_execution_show_tb = True
nb_eval_name_regex = ".*"
nb_output_stderr = "remove-warn"
# what a cell prints is one output; nb_merge_streams would break lines where the pieces meet
NotebookClient.coalesce_streams.default_value = True

# the reference
autosummary_generate = True
autodoc_typehints = "none"  # the docstrings name the types
toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# HTML; nothing is loaded from another host
html_theme = "pydata_sphinx_theme"
html_title = "rosenblatt"
html_static_path = ["_static"]
html_css_files = ["figures.css", "site.css"]
html_js_files = ["print.js"]
html_favicon = "_static/mark.svg"
html_math_renderer = "mathml"
html_context = {"default_mode": "auto"}
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {
        "text": "rosenblatt",
        "image_light": "_static/mark.svg",
        "image_dark": "_static/mark.svg",
    },
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button-field"],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "gallery/index": [], "tutorial/*": []}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def setup(app):
    """Connect the functions below."""
    app.connect("autodoc-skip-member", skip_members_of_scikit_learn)
    app.connect("autodoc-process-docstring", link_pages)
    app.connect("doctree-read", end_code_without_blank_lines)


def skip_members_of_scikit_learn(app, what, name, member, skipped, options):
    """Leave members out that scikit-learn adds to estimators; its documentation has them."""
    module = getattr(member, "__module__", None) or "rosenblatt"
    return skipped or not module.startswith("rosenblatt")


def link_pages(app, what, name, member, options, lines):
    """Turn docs/how-to/rules.md in a docstring into a link to that page."""
    lines[:] = [re.sub(r"docs/([\w/-]+)\.md", r":doc:`/\1`", line) for line in lines]


def end_code_without_blank_lines(app, doctree):
    """Drop the blank line that a doctest needs before the closing fence."""
    for block in doctree.findall(nodes.literal_block):
        if len(block) == 1 and block.rawsource == block.astext():
            block.rawsource = block.rawsource.rstrip()
            block[0] = nodes.Text(block.rawsource)
