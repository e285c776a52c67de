# SPDX-License-Identifier: Apache-2.0
"""Servers of S3, Google Cloud Storage and the hub whose listings have any number of pages, and lies about them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from support.servers.web_server import WebServer

SHA = "a" * 40

Page = tuple[list[str], str | None]
"""The names of a page, and the token of the next one."""


def pages(*, size: int = 1, last: int | None = None, name: str = "m/{}.onnx") -> Callable[[int], Page]:
    """Return pages of `size` names, without end if `last` is None."""

    def page(number: int) -> Page:
        names = [name.format(f"{number:06}-{each:04}") for each in range(size)]
        return names, None if number == last else str(number + 1)

    return page


def the_same_page(_: int) -> Page:
    """A page whose next one is itself."""
    return ["m/a.onnx"], "1"


class ListingServer(WebServer):
    """A store with one listing. `lie` replaces the answer to the requests for pages, `page` the pages."""

    address: str

    def __init__(self) -> None:
        super().__init__()
        self.page = pages(last=0)
        self.lie: Callable[[Any], None] | None = None
        self.listings = 0
        """The number of requests for pages."""
        self.answers[""] = self._answer

    def use(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let the file system of the store use this server."""
        raise NotImplementedError

    def written(self, names: list[str], token: str | None) -> tuple[bytes, dict[str, str]]:
        """Return the content of a page, and its headers."""
        raise NotImplementedError

    def is_listing(self, path: str) -> bool:
        """Return whether a request is for a page."""
        raise NotImplementedError

    def other(self, handler: Any) -> None:
        """Answer a request that is not for a page."""
        handler.reply(404)

    def _answer(self, handler: Any) -> None:
        address = urlsplit(handler.path)
        if not self.is_listing(address.path):
            self.other(handler)
            return
        self.listings += 1
        if self.lie is not None:
            self.lie(handler)
            return
        query = parse_qs(address.query)
        tokens = next((query[key] for key in ("continuation-token", "pageToken", "cursor") if key in query), ["0"])
        content, headers = self.written(*self.page(int(tokens[0])))
        handler.reply(200, content, **headers)


class S3Listing(ListingServer):
    """A store with the protocol of S3."""

    address = "s3://zoo/m/"

    def use(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let s3fs use this server."""
        import s3fs

        for name in [name for name in os.environ if name.startswith("AWS_")]:
            monkeypatch.delenv(name)
        given = {"ENDPOINT_URL": self.url(), "ACCESS_KEY_ID": "x", "SECRET_ACCESS_KEY": "y", "REGION": "us-east-1"}
        for name, value in {**given, "CONFIG_FILE": os.devnull, "SHARED_CREDENTIALS_FILE": os.devnull}.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        s3fs.S3FileSystem.clear_instance_cache()

    def is_listing(self, path: str) -> bool:
        """Return whether a request is for a page: nothing else is requested."""
        return path.strip("/") == "zoo"

    def written(self, names: list[str], token: str | None) -> tuple[bytes, dict[str, str]]:
        """Return a page in XML."""
        after = f"<NextContinuationToken>{token}</NextContinuationToken>" if token is not None else ""
        keys = "".join(f"<Contents><Key>{name}</Key><Size>9</Size></Contents>" for name in names)
        is_truncated = str(token is not None).lower()
        head = f"<Name>zoo</Name><KeyCount>{len(names)}</KeyCount><IsTruncated>{is_truncated}</IsTruncated>"
        text = (
            f'<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{head}{after}{keys}</ListBucketResult>'
        )
        return text.encode(), {"Content_Type": "application/xml"}


class GoogleListing(ListingServer):
    """A store with the JSON API of Google Cloud Storage."""

    address = "gs://zoo/m/"

    def use(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let gcsfs use this server."""
        from gcsfs.core import GCSFileSystem

        monkeypatch.setenv("STORAGE_EMULATOR_HOST", self.url().rstrip("/"))
        GCSFileSystem.clear_instance_cache()

    def is_listing(self, path: str) -> bool:
        """Return whether a request is for a page."""
        return path == "/storage/v1/b/zoo/o"

    def written(self, names: list[str], token: str | None) -> tuple[bytes, dict[str, str]]:
        """Return a page in JSON."""
        found: dict[str, Any] = {"kind": "storage#objects", "items": [{"name": name} for name in names]}
        if token is not None:
            found["nextPageToken"] = token
        return json.dumps(found).encode(), {"Content_Type": "application/json"}


class HubListing(ListingServer):
    """A store with the API of the Hugging Face Hub."""

    address = f"hf://org/repo@{SHA}/m/"

    def use(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let the package of the hub use this server."""
        import huggingface_hub
        from fsspec.config import conf

        monkeypatch.setitem(conf, "hf", {"endpoint": self.url().rstrip("/")})
        huggingface_hub.HfFileSystem.clear_instance_cache()

    def is_listing(self, path: str) -> bool:
        """Return whether a request is for a page."""
        return path.startswith(f"/api/models/org/repo/tree/{SHA}")

    def other(self, handler: Any) -> None:
        """Answer with the revision of the repository."""
        about = {"id": "org/repo", "sha": SHA, "private": False, "tags": [], "siblings": []}
        handler.reply(200, json.dumps(about).encode(), Content_Type="application/json")

    def written(self, names: list[str], token: str | None) -> tuple[bytes, dict[str, str]]:
        """Return a page in JSON, with the address of the next one in its headers."""
        found = [{"type": "file", "path": name, "size": 9, "oid": ""} for name in names]
        headers = {"Content_Type": "application/json"}
        if token is not None:
            after = self.url(f"api/models/org/repo/tree/{SHA}/m?recursive=true&cursor={token}")
            headers["Link"] = f'<{after}>; rel="next"'
        return json.dumps(found).encode(), headers


STORES: tuple[type[ListingServer], ...] = (S3Listing, GoogleListing, HubListing)


def answer_with(status: int, **headers: str) -> Callable[[Any], None]:
    """Return an answer without content."""
    return lambda handler: handler.reply(status, **headers)


def redirect_to_itself(handler: Any) -> None:
    """Redirect to the same page."""
    handler.reply(307, Location=handler.path)


def send(handler: Any, pieces: Iterable[bytes], *, length: int | None = None) -> None:
    """Send an answer in pieces, with a length or in chunks, until the client goes away."""
    handler.send_response(200)
    handler.send_header(*(("Transfer-Encoding", "chunked") if length is None else ("Content-Length", str(length))))
    handler.end_headers()
    handler.close_connection = True
    with suppress(OSError):
        for piece in pieces:
            handler.wfile.write(piece if length is not None else f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            handler.server.sent += len(piece)
