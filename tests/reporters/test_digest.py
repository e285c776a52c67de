# SPDX-License-Identifier: Apache-2.0
"""Digests are those of hashlib, and made without OpenSSL."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from onnx_lint.common.digest import sha256


@pytest.mark.parametrize("data", [b"", b"onnx", bytes(1000)])
def test_the_digest_is_that_of_hashlib(data: bytes):
    assert sha256(data).hexdigest() == hashlib.sha256(data).hexdigest()


MAIN = """
import runpy, sys
try:
    runpy.run_module("onnx_lint", run_name="__main__")
finally:
    print("_hashlib" in sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize("form", ["json", "jsonl", "sarif", "gitlab", "html"])
def test_no_report_loads_openssl(form: str, tmp_path: Path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"\x08")
    command = [sys.executable, "-c", MAIN, str(path), "-f", form, "--sarif-root", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "False\n")
