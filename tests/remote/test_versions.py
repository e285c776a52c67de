# SPDX-License-Identifier: Apache-2.0
"""The path of an object in one revision of a repository, whatever the package of the hub calls its parts."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from onnx_lint.remote.versions import pinned


def _system(unresolved: str, path: str) -> Any:
    """A file system of the hub, with the answer of its first releases: they have no attribute `root`."""
    resolved = SimpleNamespace(
        repo_id="org/repo", repo_type="model", revision="main", path_in_repo=path, unresolve=lambda: unresolved
    )
    return SimpleNamespace(
        protocol="hf",
        endpoint=None,
        token=None,
        _strip_protocol=lambda address: address.removeprefix("hf://"),
        resolve_path=lambda _: resolved,
    )


@pytest.mark.parametrize(
    ("unresolved", "path", "expected"),
    [
        ("org/repo", "", "org/repo@abc"),
        ("org/repo/d/m.onnx", "d/m.onnx", "org/repo@abc/d/m.onnx"),
        ("org/repo@main/m.onnx", "m.onnx", "org/repo@abc/m.onnx"),
        ("datasets/org/repo@refs%2Fpr%2F1/a@b.onnx", "a@b.onnx", "datasets/org/repo@abc/a@b.onnx"),
    ],
)
def test_a_path_is_pinned_to_a_revision(unresolved: str, path: str, expected: str, monkeypatch: pytest.MonkeyPatch):
    class Api:
        def __init__(self, **_: Any) -> None: ...

        def repo_info(self, *_: Any, **__: Any) -> Any:
            return SimpleNamespace(sha="abc")

    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(HfApi=Api))
    assert pinned(_system(unresolved, path), "hf://any") == expected
