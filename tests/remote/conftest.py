# SPDX-License-Identifier: Apache-2.0
"""Fixtures that the tests of remote models share: models, a server, and no delay between tries."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.servers.remote_models import ENVIRONMENT
from support.servers.web_server import WebServer


@pytest.fixture
def server() -> Iterator[WebServer]:
    with WebServer() as started:
        yield started


@pytest.fixture(autouse=True)
def no_words_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the settings of the user who runs the tests from the environment, and long waits between tries."""
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
    access = pytest.importorskip("onnx_lint.remote.access")
    monkeypatch.setattr(access, "DELAYS", (0.01, 0.01, 0.01))
