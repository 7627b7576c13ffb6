"""How the site is built: ``make docs``, then open ``docs/_build/html/index.html``."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

import markovize  # noqa: E402 - the extensions beside this file come first

project = "markovize"
author = "The markovize developers"
copyright = "2026, the markovize developers"
release = version = markovize.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "command_line",
    "mathml",
    "stamps",
]
exclude_patterns = ["_build", "_generated", "results/*/*.md"]
templates_path: list[str] = []
source_suffix = {".md": "markdown"}
needs_sphinx = "8.0"
smartquotes = False  # s' is a state, not a quotation

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_class_signature = "mixed"
add_module_names = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100

html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = "markovize"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "sidebar_hide_name": False,
    "navigation_with_keys": True,
    "light_css_variables": {"color-brand-primary": "#0b6e69", "color-brand-content": "#0b6e69"},
    "dark_css_variables": {"color-brand-primary": "#5cc8bf", "color-brand-content": "#5cc8bf"},
}
napoleon_numpy_docstring = False
napoleon_use_rtype = False

html_math_renderer = "mathml"

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
