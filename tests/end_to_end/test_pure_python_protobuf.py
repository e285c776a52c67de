# SPDX-License-Identifier: Apache-2.0
"""With Protocol Buffers in pure Python, without upb, the findings are the same. CI runs all fixtures like this."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.hostile.hostile_files import ATTACKS
from support.models.messages import message_of
from support.project.fixture_files import fixture_paths, read_fixture
from support.wire.wire_bytes import length, number

pytestmark = pytest.mark.slow

IMPLEMENTATION = "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"


def _run(folder: Path, implementation: str) -> dict[str, Any]:
    paths = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*") if path.is_file())
    done = subprocess.run(
        [sys.executable, "-m", "onnx_lint", *paths, "-f", "json", "--pedantic", "--no-config"],
        cwd=folder,
        env={**os.environ, IMPLEMENTATION: implementation},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 1
    return dict(json.loads(done.stdout))


def test_the_environment_chooses_the_implementation():
    """So that the other test does not compare one implementation with itself."""
    code = "from google.protobuf.internal import api_implementation as found; print(found.Type())"
    for implementation in ("upb", "python"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, IMPLEMENTATION: implementation},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == implementation


def test_fixtures_of_many_rules_and_each_attack(tmp_path: Path):
    chosen = {path.parent: path for path in sorted(fixture_paths(), reverse=True) if path.parent.name == "invalid"}
    for path in [path for index, path in enumerate(chosen.values()) if index % 4 == 0 or "reserved-field" in str(path)]:
        fixture = read_fixture(path)
        suffix = "textproto" if fixture.is_text else "onnx"
        (tmp_path / f"{fixture.rule}.{suffix}").write_bytes(fixture.data)
        if fixture.is_metamorphic:
            (tmp_path / f"{fixture.rule}.onnx").write_bytes(message_of(fixture.model()).SerializePartialToString())
    for attack in ATTACKS:
        (tmp_path / f"{attack.name}{attack.suffix}").write_bytes(attack.make())
    graph = length(7, length(2, "graph") + length(11, length(1, "x") + number(77, 1)))
    (tmp_path / "unknown field.onnx").write_bytes(number(1, 13) + graph + length(99, b"abc"))
    in_python, with_upb = _run(tmp_path, "python"), _run(tmp_path, "upb")
    assert {rule for file in with_upb["files"] for rule in (item["rule"] for item in file["diagnostics"])} > {
        "reserved-field",
        "unknown-field",
    }
    for mine, theirs in zip(in_python["files"], with_upb["files"], strict=True):
        assert mine == theirs, mine["path"]
    assert in_python == with_upb
