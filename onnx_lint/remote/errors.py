# SPDX-License-Identifier: Apache-2.0
"""Errors of stores, in our own words: the messages of their file systems may contain credentials."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final

from onnx_lint.common.distribution import install_command
from onnx_lint.input.locations import is_web, scheme_of
from onnx_lint.input.source import ReadError

_MAX_CAUSES: Final = 10
_CREDENTIALS: Final = {
    "http": "~/.netrc or FSSPEC_HTTP",
    "https": "~/.netrc or FSSPEC_HTTP",
    "s3": "AWS_PROFILE, AWS_ACCESS_KEY_ID or FSSPEC_S3",
    "s3a": "AWS_PROFILE, AWS_ACCESS_KEY_ID or FSSPEC_S3",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS or FSSPEC_GCS",
    "gcs": "GOOGLE_APPLICATION_CREDENTIALS or FSSPEC_GCS",
    "hf": "HF_TOKEN",
}
"""The places where the file system of a scheme looks for credentials."""
TRANSIENT: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
"""The HTTP statuses of failures that a repeated request may not have."""

_NO_ADDRESS: Final = frozenset(
    {"InvalidURL", "InvalidUrlClientError", "NonHttpUrlClientError", "EndpointResolutionError", "UnsupportedProtocol"}
)
"""The exceptions of aiohttp, botocore and httpx about an address."""

_SENTENCES: Final = {
    "gaierror": "the host name is unknown",
    "SSLError": "there is no secure connection to the host",
    "ConnectionRefusedError": "the host refused the connection",
    "NoCredentialsError": "no credentials were found{hint}",
    "PartialCredentialsError": "no credentials were found{hint}",
    "DefaultCredentialsError": "no credentials were found{hint}",
    "ProfileNotFound": "the AWS configuration has no profile with the name in AWS_PROFILE or FSSPEC_S3",
    "TooManyRedirects": "the server redirects too often",
}
"""The reasons of exceptions of Python, aiohttp, botocore and Google's client, by class."""

_SENTENCES_OF_STATUS: Final[Mapping[int, str]] = {
    HTTPStatus.UNAUTHORIZED: "the server asks for credentials (401){hint}",
    HTTPStatus.PROXY_AUTHENTICATION_REQUIRED: "the proxy asks for credentials (407)",
    HTTPStatus.TOO_MANY_REQUESTS: "the server received too many requests (429){still}",
}
"""The reasons of answers with a status."""

_OF_VALUES: Final = (TypeError, AttributeError, ValueError, NotImplementedError)


class RemoteError(ReadError):
    """A remote object that cannot be read. The text is the reason, and never contains a credential."""


class RemoteNotFoundError(RemoteError, FileNotFoundError):
    """An address without an object."""


class TooLargeError(RemoteError):
    """A remote object with more bytes than may be fetched, on a server without range requests."""


class ChangedError(RemoteError):
    """A remote object that has changed since it was first read."""

    def __init__(self, text: str = "it was changed while it was read") -> None:
        super().__init__(text)


def explained(error: BaseException, address: str, seconds: int, tries: int = 1) -> RemoteError:
    """Return the error for an exception of a file system. `seconds`: the time limit; `tries`: the attempts."""
    own = _own(error)
    if own is not None:
        return own
    still = f", and still after {tries} tries" if tries > 1 else ""
    causes = list(_causes(error))
    for status in filter(None, map(status_of, causes)):
        return _of_status(status, address, causes, still)
    for cause in causes:
        sentence = _sentence(cause, seconds, address)
        if sentence is not None:
            return RemoteError(sentence + still)
    if any(isinstance(cause, FileNotFoundError) for cause in causes):
        return RemoteNotFoundError("there is no such object")
    if any(isinstance(cause, PermissionError) for cause in causes):
        return RemoteError(f"access is denied{_hint(address)}")
    if any(isinstance(cause, _OF_VALUES) or type(cause).__name__ in _NO_ADDRESS for cause in causes):
        return RemoteError("the address, or a setting of its store in the environment, is not valid")
    return RemoteError(f"the store cannot be read ({type(error).__name__}){still}")


def is_transient(error: BaseException) -> bool:
    """Return whether the same request may succeed a little later."""
    if _own(error) is not None:
        return False
    causes = list(_causes(error))
    statuses = [status for status in map(status_of, causes) if status is not None]
    if statuses:
        return statuses[0] in TRANSIENT
    return any(_is_broken(cause) or _is_timeout(cause) for cause in causes)


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status of an exception of one of the file systems; None if it has none."""
    if _is_no_http(error.__cause__):
        return None  # aiohttp reports a response that it cannot parse as status 400
    response: Any = getattr(error, "response", None)
    if isinstance(response, dict):  # of botocore
        found = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    else:
        # The `code` of other exceptions than those of gcsfs is not the status of a response.
        code = getattr(error, "code", None) if type(error).__name__ == "HttpError" else None
        found = getattr(error, "status", None) or code or getattr(response, "status_code", None)
    return found if isinstance(found, int) and 400 <= found < 1000 else None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the exception and those that led to it."""
    found: BaseException | None = error
    for _ in range(_MAX_CAUSES):
        if found is None:
            return
        yield found
        found = found.__cause__ or found.__context__


def _own(error: BaseException) -> RemoteError | None:
    """Return the error of ours that led to an exception of a file system; None if there is none."""
    return next((cause for cause in _causes(error) if isinstance(cause, RemoteError)), None)


def _of_status(status: int, address: str, causes: list[BaseException], still: str) -> RemoteError:
    if any(type(cause).__name__ == "RepositoryNotFoundError" for cause in causes):
        return RemoteNotFoundError(f"there is no such repository, or it is private{_hint(address)}")
    if status == HTTPStatus.FORBIDDEN:
        signed = is_web(address) and "?" in address
        why = "; a signed address expires after some time" if signed else _hint(address)
        return RemoteError(f"access is denied (403){why}")
    if status in {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}:
        return RemoteNotFoundError(f"there is no such object ({status})")
    if status == HTTPStatus.PRECONDITION_FAILED:
        return ChangedError()
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return RemoteError(f"the server failed ({status}){still}")
    reason = _SENTENCES_OF_STATUS.get(status, f"the server refused the request ({status})")
    return RemoteError(reason.replace("{hint}", _hint(address)).replace("{still}", still))


def _sentence(error: BaseException, seconds: int, address: str) -> str | None:
    """Return the reason of an exception without a status; None if it is unknown."""
    name = type(error).__name__
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate of the host is not trusted ({error.verify_message})"
    known = next((_SENTENCES[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in _SENTENCES), None)
    if known is not None:
        return known.replace("{hint}", _hint(address))
    if "Redirect" in name:
        return "the server redirects to an address that is not http or https"
    if _is_timeout(error):
        return f"no response came within {seconds} second{'s' * (seconds != 1)}"
    if _is_no_http(error):
        return "the response of the server is not valid HTTP"
    return "the connection broke off" if _is_broken(error) else None


def _is_no_http(error: BaseException | None) -> bool:
    return any(kind.__name__ == "HttpProcessingError" for kind in type(error).__mro__)


def _is_timeout(error: BaseException) -> bool:
    return isinstance(error, (TimeoutError, asyncio.TimeoutError)) or "Timeout" in type(error).__name__


def _is_broken(error: BaseException) -> bool:
    named = {"ServerDisconnectedError", "ClientPayloadError", "RemoteProtocolError", "ReadError", "IncompleteReadError"}
    is_named = type(error).__name__ in named | {"ClientOSError", "ResponseStreamingError", "ConnectionClosedError"}
    return isinstance(error, (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)) or is_named


def _hint(address: str) -> str:
    """Return where to put credentials for the store, for the end of a sentence; empty if unknown."""
    place = _CREDENTIALS.get(scheme_of(address))
    return f"; credentials are taken from {place}" if place is not None else ""


def needs_package(address: str, error: ImportError) -> RemoteError:
    """Return the error that names the missing package for an address."""
    scheme = scheme_of(address)
    if scheme in _CREDENTIALS or error.name == "fsspec":
        return RemoteError(f"remote models need further packages: {install_command('remote')}")
    found = re.search(r"[Ii]nstall\s+[\"'`]?([A-Za-z0-9._-]+)", str(error))
    package = found[1] if found else error.name
    return RemoteError(f"addresses that begin with {scheme}:// need a further package: pip install {package}")
