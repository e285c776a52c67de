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


@pytest.mark.parametrize(
    ("requirement", "named"),
    [
        ("a[b]>=1; extra == 'remote'", "a[b]>=1"),
        ('a>=1; python_version < "3.12" and extra == "remote"', 'a>=1; python_version < "3.12"'),
        ("a; (os_name == 'nt' or os_name == 'os2') and extra == 'remote'", 'a; (os_name == "nt" or os_name == "os2")'),
        (
            "a; (os_name == 'nt' or os_name == 'os2') and python_version < '3.12' and extra == 'remote'",
            'a; (os_name == "nt" or os_name == "os2") and python_version < "3.12"',
        ),
        (
            "a; python_version < '3.12' and (os_name == 'nt' or os_name == 'os2') and extra == 'remote'",
            'a; python_version < "3.12" and (os_name == "nt" or os_name == "os2")',
        ),
        ("a @ https://h/a.whl ; extra == 'remote'", "a @ https://h/a.whl"),
        ("a; extra == 'test-remote'", "onnx-lint[remote]"),
        ("a; extra == 'cluster'", "onnx-lint[remote]"),
        ("a", "onnx-lint[remote]"),
    ],
)
def test_a_package_of_an_extra_may_have_a_further_condition(
    monkeypatch: pytest.MonkeyPatch, requirement: str, named: str
):
    monkeypatch.setattr(importlib.metadata, "requires", lambda _: [requirement])
    assert install_command("remote") == f"pip install '{named}'"
    assert Requirement(named)


def test_metadata_that_is_not_utf_8_has_an_address_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "odd_plugin-1.0.dist-info").mkdir()
    head = b"Name: odd-plugin\nAuthor: \xff\nProject-URL: Docs, https://docs.example.org/\n"
    (tmp_path / "odd_plugin-1.0.dist-info" / "METADATA").write_bytes(head)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert project_url("odd-plugin", {"docs"}) == "https://docs.example.org/"


def test_the_addresses_of_each_installed_distribution_are_those_of_its_metadata(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "some_plugin-1.0.dist-info").mkdir()
    head = "Metadata-Version: 2.4\nName: Some.Plugin\nProject-URL: Docs, https://docs.example.org/\n"
    (tmp_path / "some_plugin-1.0.dist-info" / "METADATA").write_text(f"{head}\nProject-URL: Docs, https://text/\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    names = {each.name for each in importlib.metadata.distributions()}
    assert "Some.Plugin" in names
    found = {name: list(_project_urls(name)) for name in names}
    assert found == {name: importlib.metadata.metadata(name).get_all("Project-URL") or [] for name in names}
    assert project_url("Some-Plugin", {"docs"}) == "https://docs.example.org/"
