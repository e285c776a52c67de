# SPDX-License-Identifier: Apache-2.0
"""The releases of products that run models: the versions, operators and element types that each supports, as data.

docs/targets.md says what the data cover. `python -m tools.compile_targets` writes those of ONNX Runtime and OpenVINO.
The data of a product list either its kernels, or the operators that it does not support. In the second case an operator
that is not listed is not judged.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from onnx_lint.common import package_data
from onnx_lint.common.record import Record
from onnx_lint.wording import quote_some, suggestion

PRODUCTS: Final = ("onnxruntime", "openvino", "tensorrt")
"""The names of the products."""


class _TypesInVersions(Record):
    """A row of the data: types of operands in versions of the operator set."""

    first: int
    last: int | None
    """The last version, if the row has one."""
    types: Mapping[str, frozenset[str]]
    """The types, by type variable or parameter."""


class Kernel(_TypesInVersions):
    """An implementation of an operator, with the types that it accepts.

    Without a last version, it implements exactly the definition of version `first`.
    """

    def is_for(self, since_version: int) -> bool:
        """Return whether it implements the definition that came with a version of the operator set."""
        return self.first == since_version or (self.last is not None and self.first < since_version <= self.last)


class ProductRelease(Record):
    """One release of a product."""

    product: str
    version: str
    ir_version: int | None
    """The newest IR version; None if the product has no limit or states none."""
    opsets: Mapping[str, int]
    """The newest operator set version by domain, where the product has a limit; the default domain is empty."""
    citation: str
    """The source of the data, and its date."""
    bit: int
    """The bit of the release in the rows of `operators`."""
    element_types: frozenset[str]
    """The types of tensors that it accepts for any operator; empty if the data do not say."""
    known_domains: frozenset[str]
    """The domains whose operators the data list; empty for all that the release registers."""
    page: str
    """The page that the data quote, with its date, if the product was not asked itself; otherwise empty."""
    types: tuple[frozenset[str], ...]
    """The sets of types, to whose indices the rows of `operators` refer."""
    operators: Mapping[str, Any]
    """The rows of the data, by domain and operator, such as `com.microsoft::Gelu`."""

    def __str__(self) -> str:
        """Return the name of the product and the version."""
        return f"{self.product} {self.version}"

    @property
    def has_kernels(self) -> bool:
        """True if the data list all its kernels."""
        return bool(self.types)

    @property
    def own_domains(self) -> frozenset[str]:
        """The domains of the operators that only the product defines."""
        own = (name for name, entry in self.operators.items() if "releases" in entry)
        return frozenset(name.partition("::")[0] for name in own) - set(self.opsets)

    @property
    def judged_domains(self) -> frozenset[str]:
        """The domains whose operators the data judge."""
        return self.known_domains or self.own_domains | self.opsets.keys()

    @property
    def quoted(self) -> str:
        """The source of a statement about the product, as the end of a sentence; empty if the product was asked."""
        return f", by {self.page}" if self.page else ""

    def lacks_opset(self, domain: str, version: int | None) -> bool:
        """Return whether a version of an operator set is later than all that the release has. None: it is unknown."""
        return version is not None and domain in self.opsets and version > self.opsets[domain]

    def refuses(self, domain: str, op_type: str, since_version: int) -> bool:
        """Return whether the data list the operator, as defined in a version, as one that it does not support."""
        rows = self.operators.get(f"{domain}::{op_type}", {}).get("refused", ())
        return any(releases & self.bit and version in (None, since_version) for version, releases in rows)

    def has_own(self, domain: str, op_type: str) -> bool:
        """Return whether the release has an operator of its own with this name, which no edition of ONNX defines."""
        entry = self.operators.get(f"{domain}::{op_type}", {})
        return bool(entry.get("releases", 0) & self.bit)

    def kernels(self, domain: str, op_type: str) -> Iterator[Kernel]:
        """Yield the kernels of an operator."""
        for row in self._rows(domain, op_type, "kernels"):
            yield Kernel(row.first, row.last, row.types)

    def runs_function(self, domain: str, op_type: str) -> bool:
        """Return whether it is an operator of the product with a function, which runs if there is no kernel."""
        entry = self.operators.get(f"{domain}::{op_type}", {})
        return "releases" in entry and "refused_types" in entry

    def refused_types(self, domain: str, op_type: str, version: int) -> Iterator[Mapping[str, frozenset[str]]]:
        """Yield types with which neither a kernel nor the function of an operator runs.

        `version`: that of the operator set, since the function depends on it. A type variable that is missing may have
        any type.
        """
        for row in self._rows(domain, op_type, "refused_types"):
            if row.first <= version <= (row.last or version):
                yield row.types

    def _rows(self, domain: str, op_type: str, key: str) -> Iterator[_TypesInVersions]:
        """Yield the rows of the release that the data have for an operator under a key."""
        for first, last, types, releases in self.operators.get(f"{domain}::{op_type}", {}).get(key, ()):
            if releases & self.bit:
                yield _TypesInVersions(first, last, {name: self.types[index] for name, index in types.items()})


def product_release(target: str) -> ProductRelease:
    """Return the release that a target names, or if the data do not list it the older of its neighbours.

    Raises ValueError, with the known ones, for an unknown product or release.
    """
    return product_releases(target)[0]


@functools.cache
def product_releases(target: str) -> tuple[ProductRelease, ...]:
    """Return the release that a target names, `onnxruntime=1.17` or `onnxruntime=1.17.3`, or its two neighbours.

    The older neighbour is the first. Raises ValueError, with the known ones, for an unknown product, and for a release
    that is older or newer than all of them.
    """
    name, _, version = target.partition("=")
    if name not in PRODUCTS:
        raise ValueError(
            f"target {target!r}: the known products are {quote_some(PRODUCTS)}{suggestion(name, PRODUCTS)}"
        )
    versions = [entry["version"] for entry in _data(name)["releases"]]
    for index, listed in reversed([*enumerate(versions)]):
        if f"{listed}.".startswith(f"{version}."):
            return (_release(name, index),)
    # Python refuses to read a number of thousands of digits, so no part may have more than nine.
    if re.fullmatch(r"(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){1,2}", version):
        number = version_number(version)
        later = sum(version_number(listed) < number for listed in versions)
        if 0 < later < len(versions):
            return _release(name, later - 1), _release(name, later)
    hint = "" if version else f"; write NAME=VERSION, such as {name}={versions[-1]}"
    raise ValueError(f"target {target!r}: the known releases of {name} are {', '.join(versions)}{hint}")


def version_number(version: str) -> tuple[int, ...]:
    """Return the parts of a version, to compare it with others."""
    return tuple([int(part) for part in version.split(".")])


def _release(name: str, index: int) -> ProductRelease:
    data = _data(name)
    entry = data["releases"][index]
    return ProductRelease(
        product=name,
        version=entry["version"],
        ir_version=entry["ir_version"],
        opsets=entry["opsets"],
        citation=f"{data['source']}, {data['date']}",
        bit=1 << index,
        element_types=frozenset(entry.get("element_types", ())),
        known_domains=frozenset(data.get("domains", ())),
        page=f"{data['page']} of {data['date']}" if "page" in data else "",
        types=tuple(frozenset(each.split()) for each in data["types"]),
        operators=data["operators"],
    )


@functools.cache
def _data(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = package_data.read_json(__name__, f"{name}.json")
    return found
