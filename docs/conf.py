"""The documentation site: `make docs` builds it with Sphinx from the Markdown pages of this folder."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from dcrl.version import __version__  # noqa: E402

project = "dcrl"
author = "the dcrl authors"
release = version = __version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "_site.navigation",
    "_site.docstrings",
    "_site.commands",
    "_site.api",
    "_site.public",
]
exclude_patterns = ["_site", "_static"]

# Pages: plain Markdown, as GitHub shows it
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # a page may begin with a picture or skip a level of headings
highlight_language = "text"
smartquotes = False  # "--help" stays as it is
nb_execution_mode = "off"  # notebooks are committed with their outputs; the tests execute them

# Docstrings: a name in single backticks is code
default_role = "literal"
autodoc_default_options = {
    "members": True,
    "undoc-members": True,
    "member-order": "bysource",
    "show-inheritance": False,
}
autodoc_typehints = "signature"
autodoc_inherit_docstrings = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
add_module_names = False

# Appearance: no font, script or style comes from another machine
html_theme = "furo"
html_title = f"dcrl {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["copy.js"]
html_copy_source = False
html_show_copyright = False
