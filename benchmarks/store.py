# SPDX-License-Identifier: Apache-2.0
"""Counts the requests that onnx-lint sends for a model in a store: they decide what a run over a bucket costs."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import huge_models
from cases import GIB, onnx_lint

TESTS = Path(__file__).parent.parent / "tests"


def requests(folder: Path) -> str:
    """Return a sentence with the requests for a model of 1 GiB whose weights are in its file."""
    if importlib.util.find_spec("aiohttp") is None or importlib.util.find_spec("fsspec") is None:
        return "Requests to a store were not counted: the extra `remote` is not installed."
    sys.path.append(str(TESTS))
    from support.servers.web_server import File, WebServer

    huge_models.write_inlined(folder / "model.onnx", GIB)
    with WebServer() as server:
        server.files["model.onnx"] = File(folder / "model.onnx")
        command = onnx_lint(Path("model.onnx")).arguments[:-1]
        subprocess.run((*command, server.url("model.onnx")), stdout=subprocess.DEVNULL, cwd=folder, check=True)
        count, read = len(server.asked), server.sent
    tensors = huge_models.TENSORS
    return (
        f"A model of 1 GiB with {tensors} tensors, read by HTTP: {count} requests, {count / tensors:.2f} for a tensor;"
        f" {read / 1e6:.1f} MB."
    )
