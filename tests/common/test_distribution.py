# SPDX-License-Identifier: Apache-2.0
"""The metadata of the installed distribution."""

from __future__ import annotations

import importlib.metadata
import shlex
import tomllib

import pytest
from packaging.requirements import Requirement
from support.project.checkout import ROOT

from onnx_lint.common.distribution import install_command


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
