# SPDX-License-Identifier: Apache-2.0
"""What the client and the workers of a cluster send."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from support.reports import made_up_report

from onnx_lint.cluster import messages
from onnx_lint.cluster.messages import Answer, call_of, digest_of_files, packed
from onnx_lint.report import FileReport, InternalError, Traffic


def test_a_report_with_everything_comes_as_it_was() -> None:
    """A crash, what was read from a store and the times, too, which the cache does not keep."""
    report = FileReport(
        "\udcff.onnx",
        1,
        (made_up_report.error(), made_up_report.warning(1)),
        internal_errors=(InternalError("rule", "KeyError", "Traceback"),),
        traffic=Traffic(1, 2, "etag"),
        timings=(("load", 0.1), ("rule cycle", 1e-9)),
    )
    assert Answer(0, packed(report, None)).report() == report


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
