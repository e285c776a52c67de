# SPDX-License-Identifier: Apache-2.0
"""Distinguishes addresses of remote objects from paths, and hides the secrets in them.

For local files nothing else of the support for remote models is imported.
"""

from __future__ import annotations

import os
import re
from typing import Final

MODEL_SUFFIXES: Final = (".onnx", ".onnxopset", ".textproto", ".txtpb", ".pbtxt")
"""The suffixes of files to check in directories. A named file is checked with any suffix.
`.pb` is not one: data of test cases and models of TensorFlow have it, and the latter are not a fault.
"""

SHARED_SUFFIXES: Final = (".prototxt", ".onnxtxt", ".onnxtext")
"""The suffixes of files to check in directories if they begin like a model. Caffe's are `.prototxt` as well."""

IN_MEMORY: Final = "<memory>"
"""The name of a model in memory that has no other."""

_SCHEME: Final = r"[A-Za-z][A-Za-z0-9+.-]+://"  # of two characters at least: C:// is a drive
_LOCAL: Final = ("file://", "local://")
_HUB: Final = "hf://"
_WEB: Final = ("http://", "https://")
_HARMLESS: Final = frozenset(
    {"versionid", "generation", "revision", "ref", "download", "raw", "format", "path", "name"}
)
"""Query parameters, in lower case, that no store uses for a credential."""
_SEVERAL_IN_ONE: Final = r"[%;?&#@=]|://"
"""Matches a decoded name or value of a query that contains further parameters, an address, or characters that are
encoded more than twice."""
_PARAMETER: Final = r"([;&#?][^/;&#?=]*)=(?!\*\*\*(?:[/;&#?]|$))[^/;&#?]*"
"""Matches a parameter in a path: a name with a value that is not hidden yet."""
_USER: Final = "://.*@|:[^/]*@|%[0-9A-Fa-f]{2}"
"""Matches, in a decoded host or path, the user of an address, and characters that are encoded more than twice."""
_UNENCODED_USER: Final = r"^(?!arn:)[^/?#@\[]*:(?:(?![0-9]*[/?#])(?s:.*)|[0-9]*(?:/[^?#]*|[/?#][^=]*))@"
"""Matches a user and a password with a character that should be encoded, such as a slash.

A password of digits and a slash looks like a port and a path. It is taken for a password if an `@` follows in the path,
or in a query without a `=`: to hide too much of an address is better than to show a password.
"""
_VERSION: Final = r"\?versionId="
_HIDDEN: Final = "***"


def has_folder(name: str) -> bool:
    """Return whether a model of this name has a folder, in which its external data can be.

    The name decides, also for a model in memory or from standard input: the user may give it the path of a file.
    """
    return name not in {IN_MEMORY, "-"}


def is_remote(path: str) -> bool:
    """Return whether a path is the address of something outside the file system, such as `s3://bucket/model.onnx`."""
    return "://" in path and re.match(_SCHEME, path) is not None and not path.lower().startswith(_LOCAL)


def is_local(path: str) -> bool:
    """Return whether a path is that of a file on this machine: neither standard input nor remote."""
    return path != "-" and not is_remote(path)


def scheme_of(address: str) -> str:
    """Return the scheme of an address in lower case, such as `s3`."""
    return address.partition("://")[0].lower()


def is_web(address: str) -> bool:
    """Return whether an address is an http or https one."""
    return address.lower().startswith(_WEB)


def shown_address(address: str) -> str:
    """Return the address for reports: without user and password, and with the values of its query hidden.

    A presigned address has a key in its query, and no list of the names of keys is complete. So only the values of a
    few harmless parameters are shown. What contains a further address may contain its password, and is hidden.
    """
    scheme, _, rest = without_user(address).partition("://")
    if is_web(address):
        rest = rest.partition("#")[0]  # the fragment is not sent to the server
    place, question, query = rest.partition("?")
    host, slash, path = place.partition("/")
    # No host, but the scheme of a further address: gs://s3://key@bucket.
    if "%" in host or (host.endswith(":") and path.startswith(("/", "%"))):
        return f"{scheme}://{_HIDDEN}"
    shown = f"{scheme}://{_shown_part(host)}{slash}{_shown_part(path)}"
    return f"{shown}?{'&'.join(map(_shown_parameter, query.split('&')))}" if question else shown


def without_user(address: str) -> str:
    """Return an address without user and password, even if these contain characters that should be encoded.

    A password stays that begins with digits, contains a `?` or `#` after them, and then a `=`.
    """
    scheme, separator, rest = address.partition("://")
    host = re.split(r"[/?#]" if is_web(address) else r"[/?]", rest, maxsplit=1)[0]
    if "@" in host:
        if address.lower().startswith(_HUB) and ":" not in host.partition("@")[0]:
            return address  # on the hub, an @ begins a revision
        rest = rest.removeprefix(host.rpartition("@")[0] + "@")
    else:
        rest = re.sub(_UNENCODED_USER, "", rest)
    return f"{scheme}{separator}{rest}"


def names_object(address: str) -> bool:
    """Return whether an address looks like an object and not like a folder. Opening it shows whether it exists."""
    if without_query(address).endswith("/"):
        return False
    return is_web(address) or without_query(address).lower().endswith(MODEL_SUFFIXES)


def shown_location(location: str) -> str:
    """Return a path unchanged, or an address for reports."""
    return shown_address(location) if is_remote(location) else location


def without_query(address: str) -> str:
    """Return the address without its query. In stores other than the web, only the version of an object is a query."""
    return re.split(r"[?#]" if is_web(address) else _VERSION, address, maxsplit=1)[0]


def file_name_of(location: str) -> str:
    """Return the name for a copy of the file at a path or address: of an address without a query and secrets."""
    return os.path.basename(shown_address(location).partition("?")[0] if is_remote(location) else location)


def folder_of(address: str) -> str:
    """Return the address of the folder of an object, without a final slash and without a query."""
    scheme, _, rest = without_query(address).partition("://")
    return f"{scheme}://{rest.rpartition('/')[0]}"


def _shown_part(part: str) -> str:
    """Return a host or a path with credentials hidden: the whole part if they are encoded."""
    part = _with_user_hidden(part)
    if re.search(_USER, _decoded(part)) is not None:
        return _HIDDEN
    part = _with_parameters_hidden(part)
    return _HIDDEN if re.search(_PARAMETER, _decoded(part)) is not None else part


def _with_user_hidden(part: str) -> str:
    """Return a host or a path without the user of a further address in it."""
    before, _, after = part.rpartition("@")
    return f"{_HIDDEN}@{after}" if "://" in before or ":" in before.rpartition("/")[2] else part


def _with_parameters_hidden(part: str) -> str:
    """Return a host or a path with the values of its parameters hidden, unless their names are encoded."""
    part = re.sub(r"(#[^/=]*)=.*", rf"\1={_HIDDEN}", part)  # a fragment ends the address, also after a slash
    return re.sub(_PARAMETER, rf"\1={_HIDDEN}", part)


def _shown_parameter(parameter: str) -> str:
    """Return a parameter of a query, with its value hidden unless the parameter is harmless."""
    name, equals, value = parameter.partition("=")
    if not equals:
        return _HIDDEN if name else name
    if _is_several(name):
        name = _HIDDEN
    return parameter if name.lower() in _HARMLESS and not _is_several(value) else f"{name}={_HIDDEN}"


def _is_several(text: str) -> bool:
    """Return whether a name or value of a query may contain further parameters or an address."""
    return re.search(_SEVERAL_IN_ONE, _decoded(text)) is not None


def _decoded(text: str) -> str:
    """Return a text without percent-encoding, also where it was encoded twice."""
    from urllib.parse import unquote

    return unquote(unquote(text))
