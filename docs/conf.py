# SPDX-License-Identifier: Apache-2.0
"""The configuration of Sphinx; docs/build.py runs it."""

from onnx_lint import __version__

project = "onnx-lint"
author = "The onnx-lint authors"
release = __version__

extensions = ["myst_parser"]
myst_enable_extensions = ["attrs_inline"]
myst_heading_anchors = 3

# A dash more or less is another option.
smartquotes = False

html_theme = "furo"
html_title = f"onnx-lint {__version__}"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False

# One page a rule, and nothing from the network while it is built or read.
html_domain_indices = False
html_use_index = False
