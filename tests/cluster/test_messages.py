# SPDX-License-Identifier: Apache-2.0
"""What the client and the workers of a cluster send."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from onnx_lint.cluster import messages
from onnx_lint.cluster.messages import call_of, digest_of_files


def test_a_call_needs_its_module_only_where_it_is_unpickled(tmp_path: Path) -> None:
    """Python without onnx-lint can pass it on, and says what is missing."""
    call = call_of(digest_of_files, ("missing",))
    assert pickle.loads(call) == digest_of_files(("missing",))
    (tmp_path / "task").write_bytes(pickle.dumps((pickle.loads, call)))
    code = "import pickle; f, call = pickle.load(open('task', 'rb')); print(len(call)); f(call)"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == f"{len(call)}\n"
    assert "No module named 'onnx_lint'" in done.stderr


def test_the_program_is_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "module.py"
    module.write_text("1")
    installed = messages.program()
    monkeypatch.setattr(messages, "_code_folders", lambda: [str(tmp_path)])
    made = messages.program.__wrapped__
    before = made()
    assert made() == before != installed
    module.write_text("2")
    assert made() != before
