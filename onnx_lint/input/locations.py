# SPDX-License-Identifier: Apache-2.0
"""Tells addresses of remote objects from paths, and shows them without what is secret in them.

Whoever only has local files imports nothing else of what remote models need.
"""

from __future__ import annotations

import re
from typing import Final

MODEL_SUFFIXES: Final = (".onnx", ".onnxopset", ".textproto", ".txtpb", ".pbtxt")
"""What is looked for in directories. A file that is named is linted whatever its suffix.

Not `.pb`: under that name lie the data of test cases, and as many files of TensorFlow, which are no fault of anybody's.
"""

_SCHEME: Final = r"[A-Za-z][A-Za-z0-9+.-]+://"  # of two characters at least: C:// is a drive
_LOCAL: Final = ("file://", "local://")
_HUB: Final = "hf://"
_WEB: Final = ("http://", "https://")
_HARMLESS: Final = frozenset(
    {"versionid", "generation", "revision", "ref", "download", "raw", "format", "path", "name"}
)
"""Parameters of a query, in lower case, that no store takes for a credential."""
_TWO_IN_ONE: Final = r"[;?]|://|%(?:26|3b|3f)|%3a%2f%2f"
"""What tells that the value of a parameter has further parameters, or an address, in it."""
_UNENCODED_USER: Final = r"(?!arn:)[^/?#@\[]*:(?![0-9]*(?:[/?#]|$))"
"""A name and a colon that no port follows, with which an address begins that has a slash in the password."""
_VERSION: Final = r"\?versionId="
_HIDDEN: Final = "***"


def is_remote(path: str) -> bool:
    """Whether a path is the address of something that is not in the file system, such as `s3://bucket/model.onnx`."""
    return "://" in path and re.match(_SCHEME, path) is not None and not path.lower().startswith(_LOCAL)


def scheme_of(address: str) -> str:
    """The scheme of an address in lower case, such as `s3`."""
    return address.partition("://")[0].lower()


def is_web(address: str) -> bool:
    """Whether an address is one of HTTP."""
    return address.lower().startswith(_WEB)


def shown_address(address: str) -> str:
    """The address as it may stand in a report: without user and password, and with the values of its query hidden.

    A presigned address has a key in its query, and no list of the names of keys is complete; so only the values of a
    few parameters that are none are shown.
    """
    scheme, _, rest = without_user(address).partition("://")
    if is_web(address):
        rest = rest.partition("#")[0]  # which no server is told
    place, question, query = rest.partition("?")
    host, slash, path = place.partition("/")
    path = re.sub(r";([^/;=]*)=[^/;]*", rf";\1={_HIDDEN}", path)
    shown = f"{scheme}://{host}{slash}{path}"
    return f"{shown}?{'&'.join(map(_shown_parameter, query.split('&')))}" if question else shown


def without_user(address: str) -> str:
    """An address without user and password, also where these have characters in them that would have to be encoded."""
    scheme, separator, rest = address.partition("://")
    host = re.split(r"[/?#]" if is_web(address) else r"[/?]", rest, maxsplit=1)[0]
    if "@" in host:
        if address.lower().startswith(_HUB) and ":" not in host.partition("@")[0]:
            return address  # there an @ stands before a revision
        rest = rest.removeprefix(host.rpartition("@")[0] + "@")
    elif re.match(_UNENCODED_USER, rest) is not None:
        rest = rest.rpartition("@")[2]
    return f"{scheme}{separator}{rest}"


def is_glob(address: str) -> bool:
    """Whether an address has characters of a pattern in it; in one of HTTP a question mark begins the query."""
    return re.search(r"[*?\[]", without_query(address)) is not None


def names_object(address: str) -> bool:
    """Whether an address is to be one of an object, by what it looks like: who opens it will tell."""
    if is_glob(address) or without_query(address).endswith("/"):
        return False
    return is_web(address) or without_query(address).lower().endswith(MODEL_SUFFIXES)


def shown_location(location: str) -> str:
    """A path as it is, or an address as it may stand in a report."""
    return shown_address(location) if is_remote(location) else location


def without_query(address: str) -> str:
    """The address up to its query; in other stores than those of HTTP only the version of an object is one."""
    return re.split(r"[?#]" if is_web(address) else _VERSION, address, maxsplit=1)[0]


def folder_of(address: str) -> str:
    """The address of what an object stands in, without a slash at the end and without a query."""
    scheme, _, rest = without_query(address).partition("://")
    return f"{scheme}://{rest.rpartition('/')[0]}"


def _shown_parameter(parameter: str) -> str:
    name, equals, value = parameter.partition("=")
    if not equals:
        return _HIDDEN if name else name
    is_harmless = name.lower() in _HARMLESS and re.search(_TWO_IN_ONE, value, re.IGNORECASE) is None
    return parameter if is_harmless else f"{name}={_HIDDEN}"
