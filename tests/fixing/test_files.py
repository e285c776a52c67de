# SPDX-License-Identifier: Apache-2.0
"""Files of any size are fixed in little memory, and what is worse than before is not written."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path

import onnx
import onnx.parser
import pytest
from support.processes.peak_memory import run

from onnx_lint.common.whole_file import NotWrittenError, Replaceable
from onnx_lint.engine.lint import lint_file
from onnx_lint.engine.settings import Settings
from onnx_lint.engine.suppressions import Suppression
from onnx_lint.fixing import files
from onnx_lint.input.patched_source import unpatched
from onnx_lint.input.source import BytesSource, ReadError, Source
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.folding import unfold


@pytest.mark.parametrize("problem", ["", "it is worse"])
def test_a_file_that_is_not_as_expected_is_not_put_in_place(tmp_path: Path, problem: str):
    path, seen = tmp_path / "model.onnx", []
    path.write_bytes(b"old")

    def lint(written: Source) -> FileReport:
        seen.append((written.read_at(0, written.size), path.read_bytes()))
        return FileReport("model.onnx", written.size)

    def check(_: FileReport) -> str | None:
        return problem or None

    new = unpatched(BytesSource(b"new"))
    with pytest.raises(NotWrittenError, match=problem) if problem else nullcontext():
        files._write_checked(str(path), new, lint, check, replaces=Replaceable.ANY_FILE)
    assert seen == [(b"new", b"old")]
    assert path.read_bytes() == (b"old" if problem else b"new")
    assert os.listdir(tmp_path) == ["model.onnx"]


def test_a_failed_write_offers_no_fix_that_would_change_what_is_suppressed(tmp_path: Path):
    """As linting does not."""
    path = tmp_path / "model.onnx"
    sums = " ".join(f"v{index + 1} = Sum(v{index})" for index in range(6))
    text = f"g (float[2] x) => (float[2] y) {{ v0 = Relu(x) {sums} y = Neg(v6) }}"
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]> {text}')
    path.write_bytes(model.SerializeToString())
    path.chmod(0o444)
    entry = Suppression("onnx-lint.toml: suppress[0]", "ineffective-node", "known", place="graph.node[3]")
    settings = Settings(select=("ineffective-node",), suppressions=(entry,))
    report = files.fix_file(str(path), settings, files.FixOptions())
    assert report.repair is not None
    assert str(report.repair.problem).endswith("was not changed: it is read-only")
    fixes = [each.fix is not None for each in unfold(report.diagnostics)]
    assert fixes == [each.fix is not None for each in unfold(lint_file(str(path), settings).diagnostics)]
    assert set(fixes) == {True, False}


@pytest.mark.parametrize("options", [files.FixOptions(shows_difference=True), files.FixOptions(output_path="new.onnx")])
def test_a_file_that_cannot_be_read_again_is_no_failure_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: files.FixOptions
):
    def fail(*_: object, **__: object) -> None:
        raise ReadError("Input/output error")

    monkeypatch.setattr(files, "fix_in_rounds", fail)
    path = tmp_path / "model.onnx"
    path.write_bytes(b"")
    report = files.fix_file(str(path), Settings(), options)
    assert report.repair is not None
    assert report.repair.problem == f"{path} was not fixed: Input/output error"


@pytest.mark.heavy
def test_a_model_with_ten_gib_of_external_data_is_mended_in_little_memory(tmp_path: Path):
    """Nodes out of order, and a sparse data file, which is neither read nor changed."""
    from support.wire.wire_bytes import length, number

    size = 10 << 30
    with (tmp_path / "w.bin").open("wb") as stream:
        stream.truncate(size)
    before = (tmp_path / "w.bin").stat()
    nodes = [length(1, length(1, one) + length(2, other) + length(4, "Relu")) for one, other in ("by", "ab", "wa")]
    entries = length(13, length(1, "location") + length(2, "w.bin"))
    tensor = number(1, size // 4) + number(2, 1) + length(8, "w") + entries + number(14, 1)
    end = length(12, length(1, "y") + length(2, length(1, number(1, 1) + length(2, length(1, number(1, size // 4))))))
    graph = b"".join(nodes) + length(2, "g") + length(5, tensor) + end
    path = tmp_path / "model.onnx"
    path.write_bytes(number(1, 10) + length(2, "p") + length(3, "1") + length(8, number(2, 21)) + length(7, graph))
    found = run(path, "--fix", "--ignore", "missing-model-domain")
    assert (found.code, found.errors) == (0, "")
    assert found.peak_bytes < 100 << 20
    assert path.read_bytes().index(b"\x0a\x01w\x12\x01a") < path.read_bytes().index(b"\x0a\x01a\x12\x01b")
    after = (tmp_path / "w.bin").stat()
    assert (after.st_mtime_ns, after.st_ino, after.st_blocks) == (before.st_mtime_ns, before.st_ino, before.st_blocks)


@pytest.mark.heavy
def test_a_file_of_three_gib_is_mended_in_little_memory(tmp_path: Path):
    """Nodes out of order before a sparse tensor of 3 GiB: only the graph is read, and the rest is copied."""
    from support.wire.wire_bytes import length, number, tag, varint

    size = 3 << 30
    nodes = [length(1, length(1, one) + length(2, other) + length(4, "Relu")) for one, other in ("by", "ab", "xa")]
    shape = length(2, length(1, number(1, size)))
    value = length(2, length(1, number(1, 2) + shape))
    tensor = number(1, size) + number(2, 2) + length(8, "w") + tag(9, 2) + varint(size)
    ends = length(11, length(1, "x") + value) + length(12, length(1, "y") + value)
    head = b"".join(nodes) + length(2, "g") + tag(5, 2) + varint(len(tensor) + size) + tensor
    path = tmp_path / "large.onnx"
    with path.open("wb") as stream:
        stream.write(number(1, 10) + length(2, "p") + length(3, "1") + length(8, number(2, 21)))
        stream.write(tag(7, 2) + varint(len(head) + size + len(ends)) + head)
        stream.seek(size, os.SEEK_CUR)
        stream.write(ends)
    found = run(path, "--fix", "--select", "unordered-nodes")
    assert (found.code, found.errors) == (0, "")
    assert found.peak_bytes < 100 << 20
    mended = run(path, "--select", "unordered-nodes")
    assert mended.code == 0
    assert path.stat().st_size > size
