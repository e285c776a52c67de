# SPDX-License-Identifier: Apache-2.0
"""Models on the Hugging Face Hub: a server that speaks its API, and HfFileSystem as it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.servers.hub_server import HubServer, Repository
from support.servers.remote_models import external_model, small_model, write_inlined

pytestmark = pytest.mark.remote

TOKEN = "hf_s3cr3tT0k3n"


@pytest.fixture
def hub() -> Iterator[HubServer]:
    with HubServer() as started:
        yield started


def run(hub: HubServer, *arguments: str, code: int | None = None, **environment: str) -> dict[str, Any]:
    """Return the JSON report of a separate process: the package of the hub reads the address when it is imported."""
    given = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
    given |= {"HF_ENDPOINT": hub.url().rstrip("/"), "HF_HUB_DISABLE_TELEMETRY": "1", **environment}
    command = [sys.executable, "-m", "onnx_lint", *arguments, "-f", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600, env=given)
    assert TOKEN not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    if code is not None:
        assert done.returncode == code, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_the_models_of_a_repository(hub: HubServer):
    files = {"onnx/m.onnx": small_model(), "n.onnx": small_model(fault=True), "README.md": b"#", ".x/h.onnx": b""}
    hub.repositories["org/repo"] = Repository({"a" * 40: files})
    found = run(hub, "hf://org/repo", code=1)["files"]
    assert [file["path"] for file in found] == ["hf://org/repo/n.onnx", "hf://org/repo/onnx/m.onnx"]
    assert [file["summary"]["errors"] > 0 for file in found] == [True, False]
    assert [file["remote"]["bytes"] for file in found] == [file["size"] for file in found]


def test_one_model_of_a_revision_in_parts(hub: HubServer, tmp_path: Path):
    size = write_inlined(tmp_path / "m.onnx", tensors=4, elements=1 << 20)
    old = {"m.onnx": (tmp_path / "m.onnx").read_bytes(), "n.onnx": b""}
    hub.repositories["org/repo"] = Repository({"a" * 40: old, "b" * 40: {"m.onnx": small_model(fault=True)}})
    [file] = run(hub, f"hf://org/repo@{'a' * 40}/m.onnx", code=0)["files"]
    assert (file["path"], file["size"], file["unreadable"]) == (f"hf://org/repo@{'a' * 40}/m.onnx", size, None)
    assert file["remote"]["bytes"] == hub.sent < size / 100


def test_a_commit_midway_makes_no_difference(hub: HubServer):
    """All files are read from the revision of the first response."""
    data = external_model(1, 8)
    repository = Repository({"a" * 40: {"m.onnx": data, "weights.bin": bytes(32)}})
    hub.repositories["org/repo"] = repository
    before = hub.answers["/org/"]

    def then_commit(handler: Any) -> None:
        before(handler)
        repository.commits["b" * 40] = {"m.onnx": small_model(fault=True)}

    hub.answers["/org/"] = then_commit
    [file] = run(hub, "hf://org/repo/m.onnx", code=0)["files"]
    assert (file["path"], file["diagnostics"]) == ("hf://org/repo/m.onnx", [])


def test_external_data_is_looked_up_in_the_tree(hub: HubServer):
    files = {"d/m.onnx": external_model(1, 8), "d/weights.bin": bytes(31), "weights.bin": bytes(32)}
    hub.repositories["org/repo"] = Repository({"a" * 40: files})
    [file] = run(hub, "hf://org/repo/d/m.onnx", code=1)["files"]
    assert [item["rule"] for item in file["diagnostics"]] == ["external-range-beyond-file"]


def test_what_is_not_there_or_private(hub: HubServer):
    hub.repositories["org/repo"] = Repository({"a" * 40: {"m.onnx": small_model()}}, token=TOKEN)
    hub.repositories["org/open"] = Repository({"a" * 40: {"m.onnx": small_model()}})
    private = "there is no such repository, or it is private; credentials are taken from HF_TOKEN"
    for address, said in {
        "hf://org/repo/m.onnx": private,
        "hf://org/repo": private,
        "hf://org/none/m.onnx": private,
        "hf://org/open/none.onnx": "there is no such object",
        "hf://org/open/none/": "no model below this address",
    }.items():
        [file] = run(hub, address, code=2)["files"]
        assert file["unreadable"].startswith(f"{address}: {said}")
    [file] = run(hub, "hf://org/repo/m.onnx", code=0, HF_TOKEN=TOKEN)["files"]
    assert file["unreadable"] is None
