# SPDX-License-Identifier: Apache-2.0
"""Access to stores: the file system of a scheme, configured by the environment, with retries and limits on time."""

from __future__ import annotations

import contextlib
import logging
import random
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

from onnx_lint.common.record import Record
from onnx_lint.common.visible import visible
from onnx_lint.input.limits import Limits
from onnx_lint.input.locations import is_web, scheme_of, shown_address
from onnx_lint.remote.errors import RemoteError, explained, is_passing, needs_package

T = TypeVar("T")

TRIES: Final = 4
DELAYS: Final = (0.5, 1.0, 2.0)
"""The seconds to wait before each further attempt, reduced at random by up to half."""

AHEAD: Final = 32
"""The number of models of a run that are opened at a time, see `onnx_lint.remote.ahead`."""

_ANNOUNCED_SECONDS: Final = 2
"""A server may ask for a delay. A delay of this many seconds or more is announced."""

_MOST_DIGITS: Final = 18

_log: Final = logging.getLogger("onnx_lint")
"""Warnings go to standard error, unless the program that uses onnx-lint configures logging."""

_LEAST_RATE: Final = 1 << 14
"""Bytes per second. A response below this rate counts as a failure."""


class Patience:
    """The time spent on a store, with its limit."""

    def __init__(self, seconds: int) -> None:
        """`seconds`: the limit for all requests together."""
        self._seconds = seconds
        self._spent = 0.0

    @contextlib.contextmanager
    def spent(self) -> Iterator[None]:
        """Count the time spent inside this context. Raises RemoteError if none is left."""
        if self._spent > self._seconds:
            raise RemoteError(f"the requests took longer than {self._limit}")
        begun = time.monotonic()
        try:
            yield
        finally:
            self._spent += time.monotonic() - begun

    @property
    def left(self) -> float:
        """The seconds that are left; a moment at least, in which a request may fail."""
        return max(self._seconds - self._spent, 1.0)

    def wait(self, seconds: float) -> None:
        """Wait before the next attempt. Raises RemoteError at once if less time is left."""
        if self._spent + seconds > self._seconds:
            raise RemoteError(f"the requests and the waits between them would exceed {self._limit}")
        with self.spent():
            time.sleep(seconds)

    @property
    def _limit(self) -> str:
        return f"the limit remote_seconds of {self._seconds:,} (option --limit remote_seconds=N)"


class Access(Record):
    """The limits on the requests for one model or listing, and the time spent on them."""

    limits: Limits
    patience: Patience

    def seconds_for(self, length: int) -> float:
        """Return how many seconds a response of `length` bytes may take, of those that are left for all requests."""
        return min(self.limits.request_seconds + length / _LEAST_RATE, self.patience.left)


def access_of(limits: Limits) -> Access:
    """Return the access for one model or listing, whose time is counted from now on."""
    return Access(limits, Patience(limits.remote_seconds))


def file_system(address: str, access: Access) -> Any:
    """Return the fsspec file system for an address. Raises RemoteError if there is none, or a package is missing."""
    try:
        import fsspec
        from fsspec.config import conf
        from fsspec.registry import get_filesystem_class
    except ImportError as error:
        raise needs_package(address, error) from None
    except Exception:
        raise RemoteError(_NO_CONFIGURATION) from None
    _silence()
    scheme = scheme_of(address)
    if "::" in address or scheme in _NO_STORES:
        raise RemoteError("a chain of addresses is not supported")
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
        raise explained(error, address, access.limits.request_seconds) from None


def _silence() -> None:
    """Keep the messages of the file systems from standard error, where Python writes them if nothing is configured."""
    for logger in map(logging.getLogger, _LOGGING):
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())


_LOGGING: Final = ("aiobotocore", "aiohttp", "asyncio", "botocore", "fsspec", "gcsfs", "google", "s3fs")
"""The loggers of the file systems. Their messages have traces and addresses, and we report the same errors."""

_NO_CONFIGURATION: Final = (
    "the configuration of fsspec cannot be read: a variable whose name begins with FSSPEC_, or a file in the folder"
    " that FSSPEC_CONFIG_DIR names, or else in ~/.config/fsspec, is malformed"
)

_NO_STORES: Final = frozenset(
    {
        *("async_wrapper", "asyncwrapper", "blockcache", "cached", "dask", "dir", "filecache", "generic", "reference"),
        *("simplecache", "libarchive", "tar", "zip"),
        *("asynclocal", "data", "git", "pyscript"),
    }
)
"""The file systems of fsspec that wrap others, or that are not remote stores."""


def _options(scheme: str, conf: dict[str, Any], access: Access) -> dict[str, Any]:
    if scheme not in {"s3", "s3a"}:
        return {}
    waiting = {"connect_timeout": access.limits.request_seconds, "read_timeout": access.limits.request_seconds}
    given = conf.get(scheme, {}).get("config_kwargs", {})
    return {"config_kwargs": {**waiting, "max_pool_connections": AHEAD, **given}}


def tried(act: Callable[[], T], address: str, access: Access) -> T:
    """Return the result of `act`, repeated after failures that may be temporary. Raises RemoteError."""
    for number in range(1, TRIES + 1):
        try:
            with access.patience.spent():
                return act()
        except Exception as error:
            if not is_passing(error):
                raise explained(error, address, access.limits.request_seconds) from None
            if number == TRIES:
                raise explained(error, address, access.limits.request_seconds, TRIES) from None
            wanted = _retry_after(error, access)
            if wanted >= _ANNOUNCED_SECONDS:
                _log.warning(
                    "Waiting %.0f s before the next request to %s, as its server asked (Retry-After)",
                    *(wanted, visible(shown_address(address))),
                )
            access.patience.wait(max(DELAYS[number - 1] * random.uniform(0.5, 1), wanted))
    raise AssertionError("the last try returns or raises")


def _retry_after(error: BaseException, access: Access) -> float:
    """Return the delay that the server asks for in seconds, at most `request_seconds`; 0 if it asks for none."""
    headers = getattr(error, "headers", None) or {}
    text = headers.get("Retry-After", "").strip() if hasattr(headers, "get") else ""
    if text.isascii() and text.isdigit():
        return min(float(text[:_MOST_DIGITS]), access.limits.request_seconds)
    return 0.0


@contextlib.contextmanager
def as_remote_errors(address: str, access: Access) -> Iterator[None]:
    """Turn the exceptions of the file system into RemoteErrors."""
    try:
        yield
    except Exception as error:
        raise explained(error, address, access.limits.request_seconds) from None
