# SPDX-License-Identifier: Apache-2.0
"""The metadata of the installed distribution."""

from __future__ import annotations

import importlib.metadata
import shlex
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from support.project.checkout import ROOT

from onnx_lint.common.distribution import _project_urls, install_command, project_url


@pytest.mark.parametrize("extra", ["cluster", "remote"])
def test_the_command_names_the_packages_of_an_extra(extra: str):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = shlex.split(install_command(extra))[2:]
    assert sorted(map(str, map(Requirement, named))) == sorted(
        map(str, map(Requirement, project["optional-dependencies"][extra]))
    )


def test_a_copy_without_metadata_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    def requires(name: str) -> list[str]:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", requires)
    assert install_command("remote") == "pip install 'onnx-lint[remote]'"


def test_the_addresses_are_those_of_the_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "onnx_lint-1.0.dist-info").mkdir()
    head = "Metadata-Version: 2.4\nName: onnx-lint\nProject-URL: Docs, https://docs.example.org/\n"
    (tmp_path / "onnx_lint-1.0.dist-info" / "METADATA").write_text(f"{head}\nProject-URL: Docs, https://text/\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    _project_urls.cache_clear()
    assert list(_project_urls()) == importlib.metadata.metadata("onnx-lint").get_all("Project-URL")
    assert project_url({"docs"}) == "https://docs.example.org/"
    _project_urls.cache_clear()
