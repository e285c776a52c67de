# SPDX-License-Identifier: Apache-2.0
"""Stores whose listings have no end: each lie ends with a sentence that names the limit, for each kind of store."""

from __future__ import annotations

import itertools
import re
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.servers.listing_servers import (
    STORES,
    ListingServer,
    answer_with,
    pages,
    redirect_to_itself,
    send,
    the_same_page,
)

from onnx_lint.cli.application import run
from onnx_lint.input.limits import Limits
from onnx_lint.remote import RemoteError, listed
from onnx_lint.remote.access import Access, access_of
from onnx_lint.remote.data_folder import RemoteFolder

pytestmark = pytest.mark.remote

SHORT = Limits(remote_seconds=1, request_seconds=60)
SMALL = Limits(memory=1 << 23)
OF_TIME = r"(took longer than|would exceed) the limit remote_seconds of 1 \(option --limit remote_seconds=N\)"
OF_MEMORY = r"the answers of the store so far need about 8\.\d MiB of memory, more than the limit memory of 8 MiB"

BUFFERED = 1 << 24
"""More bytes than sockets hold."""


@pytest.fixture(params=STORES, ids=lambda store: store.__name__)
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[ListingServer]:
    with request.param() as started:
        started.use(monkeypatch)
        yield started


def said_of(store: ListingServer, limits: Limits) -> str:
    with pytest.raises(RemoteError) as found:
        list(listed(store.address, limits))
    return str(found.value).removeprefix(store.address)


def waits_for_ever(_: Any) -> None:
    threading.Event().wait(600)


def drips(handler: Any) -> None:
    """Send a byte a second."""
    moment = threading.Event()
    send(handler, (b" " for _ in range(600) if not moment.wait(1)))


def drips_headers(handler: Any) -> None:
    """Send a byte of the headers a second."""
    moment = threading.Event()
    for byte in b"HTTP/1.1 200 OK\r\nA: " + b"a" * 600:
        handler.wfile.write(bytes([byte]))
        handler.wfile.flush()
        moment.wait(1)


@pytest.mark.parametrize(
    "lie",
    [waits_for_ever, drips, drips_headers, answer_with(429, Retry_After="99999")],
    ids=["no answer", "a byte a second", "headers a second", "Retry-After"],
)
def test_the_time_ends_a_listing_while_it_goes_on(store: ListingServer, lie: Callable[[Any], None]):
    store.lie = lie
    said = said_of(store, SHORT)
    assert re.search(OF_TIME, said)
    assert re.search("did not answer completely in time|no response came within|too many requests", said)
    assert store.listings < 100


@pytest.mark.parametrize("lie", [answer_with(503), answer_with(429, RateLimit='"api";r=0;t=99999')])
def test_retries_end_by_their_number_or_the_time(store: ListingServer, lie: Callable[[Any], None]):
    """The clients of S3 and Google wait longer between their own tries than a second."""
    store.lie = lie
    assert re.search(f"{OF_TIME}|still after 4 tries", said_of(store, SHORT))
    assert store.listings < 100


@pytest.mark.parametrize("page", [the_same_page, pages()], ids=["the same page", "new pages"])
def test_pages_without_end(store: ListingServer, page: Callable[[int], Any]):
    """With an answer of at least 64 KiB, 8 MiB are at most 128 answers."""
    store.page = page
    assert re.search(OF_MEMORY, said_of(store, SMALL))
    assert store.listings <= 128


@pytest.mark.parametrize("length", [1 << 30, None], ids=["a page of a GiB", "chunks without end"])
def test_a_page_without_end(store: ListingServer, length: int | None):
    store.lie = lambda handler: send(handler, itertools.repeat(b" " * (1 << 16)), length=length)
    assert re.search(OF_MEMORY, said_of(store, SMALL))
    assert store.listings == 1
    assert store.sent < SMALL.memory + BUFFERED


def test_redirects_without_end(store: ListingServer):
    store.lie = redirect_to_itself
    assert said_of(store, Limits(remote_seconds=60))
    assert store.listings < 200


def test_the_command_line_ends_with_code_2(store: ListingServer, capsys: pytest.CaptureFixture[str]):
    store.page = pages(size=100)
    assert run(["check", "--no-config", "--limit", "memory=8MiB", store.address]) == 2
    printed = capsys.readouterr()
    assert re.search(OF_MEMORY, printed.err)
    assert "Traceback" not in printed.err + printed.out


def test_an_honest_listing_of_several_pages(store: ListingServer):
    store.page = pages(size=1000, last=4)
    found = [each.url for each in listed(store.address)]
    folder = store.address.removesuffix("m/")
    assert found == [f"{folder}m/{page:06}-{each:04}.onnx" for page in range(5) for each in range(1000)]
    assert store.listings <= 6


def test_the_listing_of_a_folder_of_external_data_ends_too(store: ListingServer):
    access = access_of(SMALL)
    folder = RemoteFolder(f"{store.address}m.onnx", access, 1, lambda _: pytest.fail("nothing is read"))
    store.page = pages(size=100, name="m/{}.bin")
    with pytest.raises(RemoteError, match=OF_MEMORY):
        folder._list(folder._path)


def test_the_estimate_is_above_the_memory(store: ListingServer, monkeypatch: pytest.MonkeyPatch):
    """The shortest entries need most memory for each of their bytes."""
    count = 20_000
    store.page = pages(size=count, last=0, name="m/{}")
    content = store.written(*store.page(0))
    monkeypatch.setattr(store, "written", lambda *_: content)
    made: list[Access] = []
    monkeypatch.setattr("onnx_lint.remote.listing.access_of", lambda limits: made.append(access_of(limits)) or made[0])
    list(listed(store.address))  # imports what it needs
    made.clear()
    tracemalloc.start()
    try:
        list(listed(store.address))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < made[0].answers.memory < 8 * peak
