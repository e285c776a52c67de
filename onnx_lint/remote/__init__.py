# SPDX-License-Identifier: Apache-2.0
"""Models in stores: HTTP, S3 and other object stores, the Hugging Face Hub (extra `remote`).

fsspec and its file systems access the stores, with credentials, proxies and endpoints from their usual places. Nothing
here is imported for a local file.
"""

from __future__ import annotations

from onnx_lint.input.limits import Limits
from onnx_lint.input.locations import is_remote as is_remote
from onnx_lint.input.locations import shown_address
from onnx_lint.remote.access import access_of
from onnx_lint.remote.errors import RemoteError as RemoteError
from onnx_lint.remote.listing import RemoteObject as RemoteObject
from onnx_lint.remote.listing import listed as listed
from onnx_lint.remote.source import RemoteSource as RemoteSource


def open_remote(target: RemoteObject | str, limits: Limits, *, download: bool = False) -> RemoteSource:
    """Open the object at an address, or one from a listing, which must still have the listed version.

    Raises RemoteError if it cannot be read. The text begins with the address as reports show it.
    """
    access = access_of(limits, download=download).counted()
    found = RemoteObject(shown_address(target), target) if isinstance(target, str) else target
    try:
        return RemoteSource(found.address, access, found.version)
    except RemoteError as error:
        raise type(error)(f"{found.url}: {error}") from None
