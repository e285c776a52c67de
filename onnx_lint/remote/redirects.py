# SPDX-License-Identifier: Apache-2.0
"""Where a server may send a request on to: never to an address that is less public than its own.

Whoever runs a public server could otherwise have onnx-lint ask for what only the machine that it runs on can reach,
such as the credentials that clouds give out on a link-local address.
"""

from __future__ import annotations

import ipaddress
from typing import Final

from onnx_lint.remote.errors import RemoteError

PUBLIC, PRIVATE, LOOPBACK, LINK_LOCAL, METADATA = range(5)
"""How far an address reaches, the widest first."""

_NAMES: Final = ("a public", "a private", "a loopback", "a link-local", "a cloud's metadata")

_EMBEDDING: Final = (  # networks of IPv6 whose addresses have one of IPv4 in them, and from which bit on
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
"""Where Azure, Alibaba Cloud, Amazon and Google give out credentials that are not link-local."""


def reach_of(address: str) -> int:
    """How far an IP address reaches: `PUBLIC`, `PRIVATE`, `LOOPBACK`, `LINK_LOCAL` or `METADATA`.

    One without sense counts as link-local.
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
    is_site_local = isinstance(found, ipaddress.IPv6Address) and found.is_site_local  # which Python calls global
    return PUBLIC if found.is_global and not found.is_multicast and not is_site_local else PRIVATE


class RedirectError(RemoteError):
    """A redirect that is not followed."""


def check_reach(origin: list[str], target: list[str]) -> None:
    """Raise RedirectError where a redirect leads from the addresses `origin` to `target` that reach less far.

    A host with several addresses counts as public where it is redirected from, and as private where it leads to, as
    soon as one of them is.
    """
    if not target:
        return  # which a proxy may know, or nobody
    reach = max(map(reach_of, target))
    if reach > min(map(reach_of, origin), default=PUBLIC):
        raise RedirectError(f"the server redirects to {_NAMES[reach]} address, which is not followed")


def check_scheme(origin: str, target: str) -> None:
    """Raise RedirectError where a redirect leads from HTTPS to what is not."""
    if origin == "https" and target != "https":
        raise RedirectError("the server redirects from https to an address that is not secure, which is not followed")
