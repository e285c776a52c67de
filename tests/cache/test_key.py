# SPDX-License-Identifier: Apache-2.0
"""The key of an entry changes with everything that decides a report."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.project.checkout import ROOT

from onnx_lint.cache import identity, key
from onnx_lint.cache.key import digest_of_settings, key_of
from onnx_lint.common.record import field_names, replace
from onnx_lint.engine.settings import Settings
from onnx_lint.engine.suppressions import Suppression
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.report import Context
from onnx_lint.spec.clauses import Severity
from onnx_lint.spec.standard import Standard
from onnx_lint.spec.target import Target

SCHEMA = str(ROOT / "docs" / "opset-schema.example.json")

OTHERS: dict[str, Any] = {
    "standard": Standard("1.16"),
    "select": ("cycle",),
    "ignore": ("cycle",),
    "pedantic": True,
    "options": {"oversized-message": {"max_bytes": 1}},
    "external_data": False,
    "follow_links": True,
    "external_data_roots": (str(ROOT),),
    "extend_select": ("cycle",),
    "severities": {"cycle": Severity.NOTE},
    "opset_schemas": (SCHEMA,),
    "limits": replace(DEFAULT_LIMITS, findings=1),
    "set_aside": ("cycle",),
    "target": Target(ir_version=8),
    "target_gate": "unproven",
    "proto": "TensorProto",
    "opset_imports": {"ai.onnx": 12},
    "policy_files": {"max-size": "onnx-lint.toml"},
    "suppressions": (Suppression("onnx-lint.toml: suppress[0]", "cycle", "known"),),
    "has_baseline": True,
    "parts": ("counts",),
}


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "SETTLED_NANOSECONDS", -3_600_000_000_000)


def test_every_setting_changes_the_key() -> None:
    # Reports of plugin files are not kept.
    assert {*OTHERS, "plugins"} == set(field_names(Settings))
    usual = Settings()
    digests = [digest_of_settings(usual)]
    digests += [digest_of_settings(replace(usual, **{name: value})) for name, value in OTHERS.items()]
    assert None not in digests
    assert len(set(digests)) == 1 + len(OTHERS)
    assert digest_of_settings(Settings()) == digests[0]


def test_plugin_files_have_no_key() -> None:
    assert digest_of_settings(SimpleNamespace(plugins=("rule.py",))) is None  # type: ignore[arg-type]  # instead


def test_every_argument_changes_the_key() -> None:
    usual: dict[str, Any] = {"path": "m.onnx", "name": "m.onnx", "context": False}
    others = {"path": "n.onnx", "name": "n.onnx", "context": True}
    keys = {key_of(b"s", **usual), key_of(b"t", **usual)}
    keys |= {key_of(b"s", **(usual | {name: value})) for name, value in others.items()}
    assert len(keys) == 2 + len(others)


def test_the_working_directory_changes_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = key_of(b"s", path="m.onnx", name="m.onnx", context=Context.LINES)
    monkeypatch.chdir(tmp_path)
    assert key_of(b"s", path="m.onnx", name="m.onnx", context=Context.LINES) != before


def test_the_content_of_a_schema_file_changes_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "schema.json"
    text = Path(SCHEMA).read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    settings = Settings(opset_schemas=(str(path),))
    before = digest_of_settings(settings)
    path.write_text(text + "\n", encoding="utf-8")
    assert digest_of_settings(settings) not in (before, None)
    monkeypatch.setattr(identity, "SETTLED_NANOSECONDS", 3_600_000_000_000)
    assert digest_of_settings(settings) is None  # what was read may have been another content
    path.unlink()
    assert digest_of_settings(settings) is None


def test_the_files_of_the_program_change_the_key(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "rule.py").write_bytes(b"1")
    before = list(key.code_files(str(tmp_path)))
    assert [Path(path).name for path, _, _ in before] == ["rule.py"]
    (tmp_path / "package" / "rule.py").write_bytes(b"12")
    assert list(key.code_files(str(tmp_path))) != before
    archive = tmp_path / "onnx-lint.pyz"
    archive.write_bytes(b"zip")
    assert [path for path, _, _ in key.code_files(str(archive / "onnx_lint"))] == [str(archive)]


def test_the_program_is_more_than_its_version() -> None:
    version, *_, files = key._program()
    assert version
    assert len(files) > 500  # type: ignore[arg-type]  # a tuple
