# SPDX-License-Identifier: Apache-2.0
"""Options of the test run, and the browser."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.project.blessed import BLESSED


def pytest_configure(config: pytest.Config) -> None:
    config.stash[BLESSED] = []
    os.environ.pop("GITHUB_ACTIONS", None)  # in a workflow onnx-lint prints annotations behind a text report
    if sys.dont_write_bytecode:
        _share_bytecode(config)


def _share_bytecode(config: pytest.Config) -> None:
    """Have all processes of the run compile each module once, although the user wants no byte code beside the source.

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
    environment.setattr(sys, "dont_write_bytecode", False)
    environment.setattr(sys, "pycache_prefix", str(folder))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each worker a part of the tests in their order: neighbours share much, such as syntax trees."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None


def pytest_collection_finish() -> None:
    """Leave the tests themselves out of all later garbage collections: eleven thousand take a quarter of a second."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    blessed = config.stash[BLESSED]
    if blessed:
        terminalreporter.section("blessed fixtures: judge each against the specification")
        for path in blessed:
            terminalreporter.write_line(path)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Yield a headless Chromium."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert path is not None, "apt-get install chromium"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()
