# SPDX-License-Identifier: Apache-2.0
"""The file systems of stores, configured by the environment, with clients that count the answers of listings."""

from __future__ import annotations

import logging
from typing import Any, Final

from onnx_lint.input.locations import is_web, scheme_of
from onnx_lint.remote.access import AHEAD, Access
from onnx_lint.remote.errors import RemoteError, explained, needs_package


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
        kind = get_filesystem_class(scheme)
        if scheme in _GOOGLE:
            from gcsfs.core import GCSFileSystem  # others of that package list folders by gRPC, which nothing counts

            kind = GCSFileSystem
        if is_web(address):
            from onnx_lint.remote.web_session import web_options

            return fsspec.filesystem("http", **web_options({**conf.get("http", {}), **conf.get("https", {})}))
        return kind(**_options(scheme, conf, access))
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

_GOOGLE: Final = frozenset({"gs", "gcs"})

_NO_STORES: Final = frozenset(
    {
        *("async_wrapper", "asyncwrapper", "blockcache", "cached", "dask", "dir", "filecache", "generic", "reference"),
        *("simplecache", "libarchive", "tar", "zip"),
        *("asynclocal", "data", "git", "pyscript"),
    }
)
"""The file systems of fsspec that wrap others, or that are not remote stores."""


def _options(scheme: str, conf: dict[str, Any], access: Access) -> dict[str, Any]:
    if scheme in _GOOGLE:
        from onnx_lint.remote.google_session import GoogleAnswer

        given = conf.get(scheme, {}).get("session_kwargs", {})
        return {"session_kwargs": {**given, "response_class": GoogleAnswer}}
    if scheme == "hf":
        return {"max_workers": 1}  # its threads do not know of the listing whose answers are counted
    if scheme not in {"s3", "s3a"}:
        return {}
    from onnx_lint.remote.s3_session import S3Session

    waiting = {"connect_timeout": access.limits.request_seconds, "read_timeout": access.limits.request_seconds}
    given = conf.get(scheme, {}).get("config_kwargs", {})
    return {"config_kwargs": {**waiting, "max_pool_connections": AHEAD, **given, "http_session_cls": S3Session}}
