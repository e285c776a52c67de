# SPDX-License-Identifier: Apache-2.0
"""Options of the test run."""

from __future__ import annotations

import pytest

BLESSED = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--bless",
        action="store_true",
        help="rewrite the expect lines of fixtures from what onnx-lint says; judge the difference afterwards",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[BLESSED] = []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    blessed = config.stash[BLESSED]
    if blessed:
        terminalreporter.section("blessed fixtures: judge each against the specification")
        for path in blessed:
            terminalreporter.write_line(path)
