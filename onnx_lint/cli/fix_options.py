# SPDX-License-Identifier: Apache-2.0
"""The options of `check` and `fix` that say what to change."""

from __future__ import annotations

import click

from onnx_lint.cli.sections import section

_TITLE = "Fixes"

fix_options = section(
    _TITLE,
    click.option("--fix", is_flag=True, help="Fix what can be fixed, as onnx-lint fix does, and report the rest."),
)

unsafe_options = section(
    _TITLE,
    click.option("--diff", is_flag=True, help="Show what --fix would change, and change nothing."),
    click.option("--unsafe-fixes", is_flag=True, help="Also make fixes that may change what the model means."),
)

folder_option = section(
    _TITLE,
    click.option(
        "--output",
        "fixed_folder",
        type=click.Path(file_okay=False),
        metavar="DIR",
        help="Write the files into DIR; a file found in a folder PATH keeps its path below PATH. External data is not"
        " copied.",
    ),
)
