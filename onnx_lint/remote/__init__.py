# SPDX-License-Identifier: Apache-2.0
"""Models in stores: HTTP, S3 and other object stores, the Hugging Face Hub (extra `remote`).

fsspec and its file systems access the stores, with credentials, proxies and endpoints from their usual places. Nothing
here is imported for a local file.
"""

from __future__ import annotations

from typing import Final

from onnx_lint.input.limits import Limits
from onnx_lint.input.locations import is_remote as is_remote
from onnx_lint.input.locations import shown_address
from onnx_lint.remote.access import access_of
from onnx_lint.remote.errors import RemoteError as RemoteError
from onnx_lint.remote.listing import RemoteObject as RemoteObject
from onnx_lint.remote.listing import listed as listed
from onnx_lint.remote.source import RemoteSource as RemoteSource

WHOLE_BYTES: Final = 1 << 20
"""A model of at most this size is fetched whole, with a second request if the first one did not return all of it."""


def open_remote(address: str, limits: Limits, *, most: int | None = None) -> RemoteSource:
    """Open the object at an address.

    Raises RemoteError if it cannot be read. The text begins with the address as reports show it. `most`: raise
    TooLargeError if a server without range requests returns more bytes; None for the limit.
    """
    access = access_of(limits)
    try:
        source = RemoteSource(address, access, most=most)
        if source.size <= WHOLE_BYTES:
            source.read_at(0, source.size)  # one request in place of several, and none while the model is linted
        return source
    except RemoteError as error:
        raise type(error)(f"{shown_address(address)}: {error}") from None
