# SPDX-License-Identifier: Apache-2.0
"""How stores are reached: the file system of a scheme, made with what the environment configures."""

from __future__ import annotations

import contextlib
import logging
import random
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, TypeVar

from onnx_lint.common.record import Record, replace
from onnx_lint.common.visible import visible
from onnx_lint.input.limits import DEFAULT_LIMITS, Limits
from onnx_lint.input.locations import is_web, scheme_of, shown_address
from onnx_lint.remote.errors import RemoteError, explained, is_passing, needs_package
from onnx_lint.remote.setting_faults import unread_setting

T = TypeVar("T")

TRIES: Final = 4
DELAYS: Final = (0.5, 1.0, 2.0)
"""Seconds to wait before each further try, of which chance takes up to half away."""

_ANNOUNCED_SECONDS: Final = 2
"""A server may have onnx-lint wait. A wait that long is announced."""

_MOST_DIGITS: Final = 18

_log: Final = logging.getLogger("onnx_lint")
"""Python writes warnings to standard error, unless the program that onnx-lint is part of wants them elsewhere."""

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
            raise RemoteError(f"the requests took longer than {self._limit}")
        begun = time.monotonic()
        try:
            yield
        finally:
            self._spent += time.monotonic() - begun

    def wait(self, seconds: float) -> None:
        """Wait before the next try; raises RemoteError at once where there is less time left."""
        if self._spent + seconds > self._seconds:
            raise RemoteError(f"the requests and the waits between them would go beyond {self._limit}")
        with self.spent():
            time.sleep(seconds)

    @property
    def _limit(self) -> str:
        return f"the limit remote_seconds of {self._seconds:,} (option --limit remote_seconds=N)"


class Access(Record):
    """How much is asked of a store."""

    request_seconds: int = DEFAULT_LIMITS.request_seconds
    """Seconds that an answer may take."""
    download_bytes: int = DEFAULT_LIMITS.download_bytes
    """Bytes of an object that are fetched whole where the server gives no parts."""
    remote_seconds: int = DEFAULT_LIMITS.remote_seconds
    """Seconds that all requests for one model, or for one listing, may take."""
    patience: Patience | None = None
    """What is left of them; None where nobody counts."""

    def seconds_for(self, length: int) -> float:
        """How many seconds an answer of `length` bytes may take."""
        return self.request_seconds + length / _LEAST_RATE

    def counted(self) -> Access:
        """Return the same for one more model or listing, whose time is counted from now on."""
        return replace(self, patience=Patience(self.remote_seconds))


def access_of(limits: Limits, *, download: bool) -> Access:
    """How much is asked of a store under these limits; with `download` objects are fetched whole up to `file_bytes`."""
    most = limits.file_bytes if download else limits.download_bytes
    return Access(limits.request_seconds, most, limits.remote_seconds)


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
    patience = access.patience or Patience(access.remote_seconds)
    for number in range(1, TRIES + 1):
        try:
            with patience.spent():
                return act()
        except Exception as error:
            if not is_passing(error):
                raise explained(error, address, access.request_seconds) from None
            if number == TRIES:
                raise explained(error, address, access.request_seconds, TRIES) from None
            wanted = _retry_after(error, access)
            if wanted >= _ANNOUNCED_SECONDS:
                _log.warning(
                    "Waiting %.0f s before %s is asked again, as its server wants (Retry-After)",
                    *(wanted, visible(shown_address(address))),
                )
            patience.wait(max(DELAYS[number - 1] * random.uniform(0.5, 1), wanted))
    raise AssertionError("the last try returns or raises")


def _retry_after(error: BaseException, access: Access) -> float:
    """Return how many seconds the server wants to be left alone, but no more than `request_seconds`."""
    headers = getattr(error, "headers", None) or {}
    text = headers.get("Retry-After", "").strip() if hasattr(headers, "get") else ""
    if text.isascii() and text.isdigit():
        return min(float(text[:_MOST_DIGITS]), access.request_seconds)
    try:
        date = parsedate_to_datetime(text)
        left = (date if date.tzinfo is not None else date.replace(tzinfo=UTC)) - datetime.now(UTC)
    except (ValueError, OverflowError):
        return 0.0  # neither seconds nor a date (RFC 9110, section 10.2.3)
    return min(max(left.total_seconds(), 0.0), access.request_seconds)


@contextlib.contextmanager
def telling(address: str, access: Access) -> Iterator[None]:
    """Turns what the file system raises into a RemoteError."""
    try:
        yield
    except Exception as error:
        raise explained(error, address, access.request_seconds) from None
