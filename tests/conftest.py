# SPDX-License-Identifier: Apache-2.0
"""Options of the test run."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from support.project.blessed import BLESSED


def pytest_configure(config: pytest.Config) -> None:
    config.stash[BLESSED] = []
    if sys.dont_write_bytecode:
        _share_bytecode(config)


def _share_bytecode(config: pytest.Config) -> None:
    """Have the processes of the tests compile each module once, although the user wants no byte code beside the source.

    The workers of pytest-xdist and hundreds of other processes read it, and so do later runs.
    """
    if not hasattr(config, "cache"):  # as with -p no:cacheprovider
        return
    folder = config.cache.mkdir("bytecode")
    temporary = Path(tempfile.gettempdir())
    shutil.rmtree(folder / temporary.relative_to(temporary.anchor), ignore_errors=True)  # of modules that tests write
    environment = pytest.MonkeyPatch()
    config.add_cleanup(environment.undo)
    environment.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    environment.setenv("PYTHONPYCACHEPREFIX", str(folder))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    blessed = config.stash[BLESSED]
    if blessed:
        terminalreporter.section("blessed fixtures: judge each against the specification")
        for path in blessed:
            terminalreporter.write_line(path)
