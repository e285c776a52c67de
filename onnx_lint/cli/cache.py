# SPDX-License-Identifier: Apache-2.0
"""The command `cache`: where the cache of verdicts is, and how to delete it."""

from __future__ import annotations

import os

import click

from onnx_lint.cache.folder import CacheFolderError, cache_folder
from onnx_lint.cli.streams import standard_output
from onnx_lint.configuration.errors import RunError
from onnx_lint.reporters.escape import shown_path


@click.command("cache", short_help="Print the folder of the cache, or clear it.")
@click.argument("action", type=click.Choice(("dir", "clear")))
def cache_command(action: str) -> None:
    """Print the folder of the cache that --cache uses (dir), or delete what is in it (clear).

    The folder is ~/.cache/onnx-lint, or below XDG_CACHE_HOME, unless ONNX_LINT_CACHE_DIR names another one.
    """
    from onnx_lint.cache.store import clear

    try:
        folder, _ = cache_folder(os.environ)
    except CacheFolderError as error:
        raise RunError(str(error)) from error
    if action == "clear":
        try:
            clear(folder)
        except OSError as error:
            raise click.ClickException(f"{shown_path(folder)}: {error.strerror or error}") from error
        return
    with standard_output() as stream:
        stream.write(f"{shown_path(folder)}\n")
