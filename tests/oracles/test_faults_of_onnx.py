# SPDX-License-Identifier: Apache-2.0
"""The programs of docs/faults_of_onnx.md still show the faults of `onnx` that the page describes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import onnx
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "faults_of_onnx.md"

_SECTION = re.compile(
    r"^## (?P<title>.+?)$.*?^```python\n(?P<program>.+?)^```\n\n^```text\n(?P<shown>.+?)^```$", re.M | re.S
)
SECTIONS = {found["title"]: (found["program"], found["shown"].strip()) for found in _SECTION.finditer(PAGE.read_text())}

RELEASE = re.search(r"seen with onnx ([\d.]+\d)", PAGE.read_text())[1]  # type: ignore[index]

SECONDS = 30
"""A program that shows that something never ends is stopped after this time."""


def test_each_section_has_a_program_and_what_it_shows() -> None:
    assert len(SECTIONS) == PAGE.read_text().count("\n## ")


@pytest.mark.differential
@pytest.mark.skipif(onnx.__version__ != RELEASE, reason=f"the page is about onnx {RELEASE}")
@pytest.mark.parametrize("title", SECTIONS)
def test_the_fault_is_still_there(title: str) -> None:
    program, shown = SECTIONS[title]
    assert _shown_by(program) == shown


def _shown_by(program: str) -> str:
    """Return what a program prints, or how it ended."""
    try:
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "no end"
    if ended.returncode < 0:
        return f"ended by signal {-ended.returncode}"
    return (ended.stdout + ended.stderr).strip()
