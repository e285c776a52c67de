# SPDX-License-Identifier: Apache-2.0
"""How stores are reached: the file system of a scheme, made with what the environment configures."""

from __future__ import annotations

import contextlib
import logging
import random
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

from onnx_lint.common.record import Record
from onnx_lint.input.limits import DEFAULT_LIMITS, Limits
from onnx_lint.input.locations import is_web, scheme_of
from onnx_lint.remote.errors import RemoteError, explained, is_passing, needs_package
from onnx_lint.remote.setting_faults import unread_setting

T = TypeVar("T")

TRIES: Final = 4
DELAYS: Final = (0.5, 1.0, 2.0)
"""Seconds to wait before each further try, of which chance takes up to half away."""

_LEAST_RATE: Final = 1 << 14
"""Bytes a second. Slower than that an answer counts as none."""


class Patience:
    """How long was waited for a store, and how long is to be."""

    def __init__(self, seconds: int) -> None:
        """`seconds`: how long all requests may take together."""
        self._seconds = seconds
        self._spent = 0.0

    @contextlib.contextmanager
    def spent(self) -> Iterator[None]:
        """Count the time; raises RemoteError where there is none left."""
        if self._spent > self._seconds:
            limit = f"the limit remote_seconds of {self._seconds:,} (option --limit remote_seconds=N)"
            raise RemoteError(f"the requests took longer than {limit}")
        begun = time.monotonic()
        try:
            yield
        finally:
            self._spent += time.monotonic() - begun


class Access(Record):
    """How much is asked of a store."""

    request_seconds: int = DEFAULT_LIMITS.request_seconds
    """Seconds that an answer may take."""
    download_bytes: int = DEFAULT_LIMITS.download_bytes
    """Bytes of an object that are fetched whole where the server gives no parts."""
    patience: Patience | None = None
    """Of one model, how long is waited for all that is asked; None for as long as it takes."""

    def seconds_for(self, length: int) -> float:
        """How many seconds an answer of `length` bytes may take."""
        return self.request_seconds + length / _LEAST_RATE


def access_of(limits: Limits, *, download: bool) -> Access:
    """How much is asked of a store under these limits; with `download` objects are fetched whole up to `file_bytes`."""
    return Access(limits.request_seconds, limits.file_bytes if download else limits.download_bytes)


def file_system(address: str, access: Access) -> Any:
    """The file system of fsspec for an address. Raises RemoteError where there is none, or a package is missing."""
    unread = unread_setting(address)
    if unread is not None:
        raise RemoteError(unread)
    try:
        import fsspec
        from fsspec.config import conf
        from fsspec.registry import get_filesystem_class
    except ImportError as error:
        raise needs_package(address, error) from None
    except Exception:
        raise RemoteError(_NO_CONFIGURATION) from None
    for name in _LOGGING:
        # Where nobody wants to have logs, Python writes them to standard error; who wants them still has them.
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
    scheme = scheme_of(address)
    if "::" in address or scheme in _NO_STORES:
        raise RemoteError("an address leads to one store, without others in a chain")
    try:
        get_filesystem_class(scheme)
        if is_web(address):
            from onnx_lint.remote.web_session import web_options

            return fsspec.filesystem("http", **web_options({**conf.get("http", {}), **conf.get("https", {})}))
        return fsspec.filesystem(scheme, **_options(scheme, conf, access))
    except ImportError as error:
        raise needs_package(address, error) from None
    except Exception as error:
        if isinstance(error, ValueError) and "Protocol not known" in str(error):
            raise RemoteError(f"no store is known for addresses that begin with {scheme}://") from None
        raise explained(error, address, access.request_seconds) from None


_LOGGING: Final = ("aiobotocore", "aiohttp", "asyncio", "botocore", "fsspec", "gcsfs", "google", "s3fs")
"""The loggers of the file systems, which tell traces and addresses of what is told here in a sentence."""

_NO_CONFIGURATION: Final = (
    "the configuration of fsspec cannot be read: a file in the folder that FSSPEC_CONFIG_DIR names, or else in"
    " ~/.config/fsspec, is not what it should be"
)

_NO_STORES: Final = frozenset(
    {
        *("async_wrapper", "asyncwrapper", "blockcache", "cached", "dask", "dir", "filecache", "generic", "reference"),
        *("simplecache", "libarchive", "tar", "zip"),
        *("asynclocal", "data", "git", "pyscript"),
    }
)
"""The file systems of fsspec that stand before others, and those that are no store elsewhere."""


def _options(scheme: str, conf: dict[str, Any], access: Access) -> dict[str, Any]:
    if scheme not in {"s3", "s3a"}:
        return {}
    waiting = {"connect_timeout": access.request_seconds, "read_timeout": access.request_seconds}
    given = conf.get(scheme, {}).get("config_kwargs", {})
    return {"config_kwargs": {**waiting, **given}}


def tried(act: Callable[[], T], address: str, access: Access) -> T:
    """What `act` returns, which is tried again after a failure that may pass. Raises RemoteError."""
    for number in range(1, TRIES + 1):
        try:
            with access.patience.spent() if access.patience is not None else contextlib.nullcontext():
                return act()
        except Exception as error:
            if not is_passing(error):
                raise explained(error, address, access.request_seconds) from None
            if number == TRIES:
                raise explained(error, address, access.request_seconds, TRIES) from None
            time.sleep(max(DELAYS[number - 1] * random.uniform(0.5, 1), _retry_after(error, access)))
    raise AssertionError("the last try returns or raises")


def _retry_after(error: BaseException, access: Access) -> float:
    """How long the server wants to be left alone, in seconds: as far as that is no longer than an answer may take."""
    headers = getattr(error, "headers", None) or {}
    text = headers.get("Retry-After", "") if hasattr(headers, "get") else ""
    return min(float(text), access.request_seconds) if text.isascii() and text.isdigit() else 0.0


@contextlib.contextmanager
def telling(address: str, access: Access) -> Iterator[None]:
    """Turns what the file system raises into a RemoteError."""
    try:
        yield
    except Exception as error:
        raise explained(error, address, access.request_seconds) from None
