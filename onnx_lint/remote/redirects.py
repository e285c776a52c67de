# SPDX-License-Identifier: Apache-2.0
"""Checks redirects: a server must not redirect to an address that is less public than its own.

Otherwise a public server could make onnx-lint access addresses that only its machine can reach, such as the link-local
address at which clouds hand out credentials.
"""

from __future__ import annotations

import ipaddress
from typing import Final

from onnx_lint.remote.errors import RemoteError

PUBLIC, PRIVATE, LOOPBACK, LINK_LOCAL, METADATA = range(5)
"""The reach of an address, from public to most restricted."""

_NAMES: Final = ("a public", "a private", "a loopback", "a link-local", "a cloud's metadata")

_EMBEDDING: Final = (  # IPv6 networks whose addresses contain an IPv4 address, and its first bit
    (ipaddress.IPv6Network("::ffff:0:0/96"), 96),
    (ipaddress.IPv6Network("64:ff9b::/96"), 96),
    (ipaddress.IPv6Network("64:ff9b:1::/48"), 96),
    (ipaddress.IPv6Network("::ffff:0:0:0/96"), 96),
    (ipaddress.IPv6Network("::/96"), 96),
    (ipaddress.IPv6Network("2002::/16"), 16),
)

_METADATA: Final = frozenset(
    map(ipaddress.ip_address, ("168.63.129.16", "100.100.100.200", "fd00:ec2::254", "fd20:ce::254"))
)
"""The addresses, besides link-local ones, at which Azure, Alibaba Cloud, Amazon and Google hand out credentials."""


def reach_of(address: str) -> int:
    """Return the reach of an IP address: `PUBLIC`, `PRIVATE`, `LOOPBACK`, `LINK_LOCAL` or `METADATA`.

    An invalid address counts as link-local.
    """
    try:
        found: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return LINK_LOCAL
    if isinstance(found, ipaddress.IPv6Address) and not (found.is_loopback or found.is_unspecified):
        for network, bit in _EMBEDDING:
            if found in network:
                found = ipaddress.IPv4Address(int(found) >> (128 - 32 - bit) & 0xFFFFFFFF)
                break
    if found in _METADATA:
        return METADATA
    if found.is_link_local:
        return LINK_LOCAL
    if found.is_loopback or found.is_unspecified:
        return LOOPBACK
    is_site_local = isinstance(found, ipaddress.IPv6Address) and found.is_site_local  # Python calls these global
    return PUBLIC if found.is_global and not found.is_multicast and not is_site_local else PRIVATE


def check_reach(origin_addresses: list[str], target_addresses: list[str]) -> None:
    """Raise RemoteError if a redirect leads from the addresses of one host to less public ones of another.

    Of a host with several addresses, the most public one counts for the origin, and the least public one for the
    target.
    """
    if not target_addresses:
        return  # only a proxy may know the name
    reach = max(map(reach_of, target_addresses))
    # An origin of unknown addresses counts as public, so that only public targets pass.
    if reach > min(map(reach_of, origin_addresses), default=PUBLIC):
        raise RemoteError(
            f"the server redirects to {_NAMES[reach]} address: refused, since it is less public than the server's own"
        )


def check_scheme(origin_scheme: str, target_scheme: str) -> None:
    """Raise RemoteError if a redirect leads from HTTPS to another scheme."""
    if origin_scheme == "https" and target_scheme != "https":
        raise RemoteError("the server redirects from https to a scheme that is not secure: refused")
