# SPDX-License-Identifier: Apache-2.0
"""Fixes that import an operator set, in the newest version that fits all nodes of its domain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from onnx_lint import schema
from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import replace
from onnx_lint.common.salted import salted_text
from onnx_lint.ir.graph import Function, Graph, Node
from onnx_lint.ir.operators.imports import Imports
from onnx_lint.ir.operators.mismatch import fits
from onnx_lint.ir.operators.operators import AlikeNodes, Operators, OperatorStatus, OtherVersion
from onnx_lint.ir.places.edits import Fix, Insert
from onnx_lint.ir.places.place import ROOT
from onnx_lint.spec.domains import shown_domain
from onnx_lint.spec.operators.store import ONNXRUNTIME
from onnx_lint.spec.releases import NEWEST_IR_VERSION, RELEASES, is_onnx_domain, normalized_domain
from onnx_lint.wording import quote

RankOf = Callable[[Node], int | None]


class ImportFixes:
    """Makes fixes for the domains that the nodes of a model or function use and that it does not import."""

    def __init__(self, graphs: Iterable[Graph], operators: Operators, imports: Imports, ir_version: int) -> None:
        """`ir_version`: the IR version of the model. Only versions in ONNX releases with at most this are imported."""
        self._imports = imports
        self._imported = imports.versions(None)
        self._ir_version = ir_version
        self._graphs = graphs
        self._operators = operators

    @cached_property
    def _nodes(self) -> dict[tuple[int | None, str], list[AlikeNodes]]:
        """The forms of nodes by function and domain, without calls of the model's own functions."""
        found: dict[tuple[int | None, str], list[AlikeNodes]] = {}
        for graph in self._graphs:
            for form, count in graph.form_counts.items():
                operator = self._operators.operator_in(graph, form)
                if operator.status is not OperatorStatus.FUNCTION:
                    key = graph.function_index, normalized_domain(form.domain)
                    alike = AlikeNodes(operator, graph, form)
                    alike.add(graph, form, count)
                    found.setdefault(key, []).append(alike)
        return found

    def importing(self, domains: Sequence[str], function: Function | None = None) -> Fix | str:
        """Return the fix that imports domains in the model or in a function, or the reason why there is none."""
        place = ROOT if function is None else function.place
        end = place.at("opset_import", self._imports.count(function))
        entry = schema.message("OperatorSetIdProto")
        edits, names = [], []
        for domain in domains:
            version = self._version(domain, function)
            if version is None:
                return f"no known version of {quote(shown_domain(domain))} fits all of its nodes"
            names.append(f"{quote(shown_domain(domain))} {version}")
            edits.append(Insert(end, entry(domain=domain, version=version)))
        return Fix(f"import {' and '.join(names)}", tuple(edits), is_safe=False)

    def version_instead(self, domain: str, rank_of: RankOf) -> OtherVersion | None:
        """Return the version of an imported domain that fits the nodes of the model; None if there is none.

        It is the next later version. If there is none, it is the next earlier one, if several operators need it: one
        operator may have been written in an old way. Nodes that fit no version are left out, as they have another
        fault. There is no version if a function of the model imports another one, or if the version changes what a
        node computes; a later one is in doubt while ranks are unknown. `rank_of`: returns the rank of input 0 of a
        node; None if it is unknown.
        """
        imported = self._imported.get(domain, 0)
        if imported <= 0 or not is_onnx_domain(domain):
            return None
        newest, least = self._newest(domain), 1 if domain else _BROADCASTS
        later = range(max(imported + 1, least), newest + 1)
        earlier = range(min(imported - 1, newest), least - 1, -1)
        return self._version_among(later, domain, rank_of) or self._version_among(earlier, domain, rank_of)

    def _version_among(self, versions: range, domain: str, rank_of: RankOf) -> OtherVersion | None:
        """Return the first of some versions, all later or all earlier ones, that fits as `version_instead` says."""
        imported, is_later = self._imported[domain], versions.step > 0
        nodes = self._nodes.get((None, domain), ())
        unfit = [each for each in nodes if not self._fits(each, imported)]
        meant = [each for each in unfit if any(self._fits(each, version) for version in versions)]
        if len({each.operator.op_type for each in meant}) < (1 if is_later else 2):
            return None
        found = self._first_fitting([*meant, *(each for each in nodes if each not in unfit)], versions)
        if found is None or not self._is_free(domain, found):
            return None
        are_kept = _are_kept(nodes, imported, found, rank_of)
        is_in_doubt = are_kept is None and is_later
        if not are_kept and not is_in_doubt:
            return None
        count = sum(each.count for each in meant)
        return OtherVersion(found, count, fits_all=len(meant) == len(unfit), is_in_doubt=is_in_doubt)

    def version_from(self, domain: str, least: int, rank_of: RankOf) -> int | None:
        """Return the first version from `least` on that all nodes of the model fit and that changes none of them."""
        imported = self._imported.get(domain, 0)
        if imported <= 0 or not is_onnx_domain(domain) or imported < (1 if domain else _BROADCASTS):
            return None
        nodes = self._nodes.get((None, domain), ())
        found = self._first_fitting(nodes, range(least, self._newest(domain) + 1))
        is_possible = found is not None and self._is_free(domain, found)
        return found if is_possible and _are_kept(nodes, imported, found or 0, rank_of) else None

    def version_with_later_ir(self, domain: str, rank_of: RankOf) -> OtherVersion | None:
        """Return what `version_instead` does, of the versions that need a later IR version than the model has."""
        later = ImportFixes(self._graphs, self._operators, self._imports, NEWEST_IR_VERSION)
        found = later.version_instead(domain, rank_of)
        if found is None or found.version <= self._imported.get(domain, 0):
            return None
        known = [each.ir_version for each in RELEASES if (each.opset_version(domain) or 0) >= found.version]
        return replace(found, ir_version=known[0])

    def keeps_all(self, domain: str, before: int, rank_of: RankOf) -> bool:
        """Return whether the nodes of the model certainly compute what they would with the version before."""
        nodes = self._nodes.get((None, domain), ())
        return _are_kept(nodes, before, self._imported.get(domain, 0), rank_of) is True

    def _newest(self, domain: str) -> int:
        """Return the newest version of a domain of ONNX in the releases with the IR version of the model."""
        known = (each.opset_version(domain) for each in RELEASES if each.ir_version <= self._ir_version)
        return max(known, default=0)

    def _first_fitting(self, nodes: Iterable[AlikeNodes], versions: Iterable[int]) -> int | None:
        return next((each for each in versions if all(self._fits(alike, each) for alike in nodes)), None)

    def _is_free(self, domain: str, version: int) -> bool:
        """Return whether no function of the model imports another version of a domain."""
        return self._imported_by_functions.get(domain, set()) <= {salted_text(version)}

    def assumed_versions(self, lacking: Iterable[tuple[Function | None, Iterable[str]]]) -> dict[int, dict[str, int]]:
        """Return the versions to assume for domains that are not imported: import list -> domain -> version.

        They are the versions that `importing` would add, and version 1 for domains of ONNX Runtime. Functions with
        equal imports have one list. `lacking`: the missing domains of the model (None) and of functions.
        """
        found: dict[int, dict[str, int]] = {}
        known = self._operators.schemas.known_domains()
        for function, domains in lacking:
            for domain in domains:
                version = self._version(domain, function) or (1 if domain in ONNXRUNTIME.domains else None)
                if domain in known and version is not None:
                    found.setdefault(self._operators.number(function), {}).setdefault(domain, version)
        return found

    def _version(self, domain: str, function: Function | None) -> int | None:
        """Return the newest possible version that fits all nodes; None if there is none, or if an operator is unknown.

        Possible versions, by the first case that applies:
        - in a function, if the model imports the domain: the version of the model;
        - in the model, for a domain of its functions, if it imports other such domains in one version: that version;
        - if functions import the domain: their versions;
        - for a domain of ONNX: all versions up to the newest one of the IR version;
        - otherwise: version 1.
        """
        versions: Sequence[int]
        if function is not None and domain in self._imported:
            versions = [self._imported[domain]]
        elif function is None and domain in self._own and len(self._versions_of_own) == 1:
            versions = [*self._versions_of_own]
        elif imported := self._imported_by_functions.get(domain):
            versions = sorted(map(int, imported))
        elif is_onnx_domain(domain):
            versions = range(1, self._newest(domain) + 1)
        else:
            # Calls of functions do not depend on the version, and the operators of ONNX Runtime have one version.
            versions = (1,)
        nodes = self._nodes.get((None if function is None else function.index, domain), ())
        return self._first_fitting(nodes, reversed(versions))

    @cached_property
    def _own(self) -> set[str]:
        """The domains of the model's functions."""
        functions = (graph.function for graph in self._graphs if graph.is_function)
        return {normalized_domain(each.domain) for each in functions if each is not None}

    @cached_property
    def _versions_of_own(self) -> set[int]:
        """The versions with which the model imports domains of its functions."""
        return {version for domain, version in self._imported.items() if domain in self._own}

    @cached_property
    def _imported_by_functions(self) -> dict[str, set[str]]:
        """The versions of each domain that functions import."""
        found: dict[str, set[str]] = {}
        for graph in self._graphs:
            if not graph.is_function:
                continue
            for domain, version in self._imports.versions(graph.function).items():
                found.setdefault(domain, set()).add(salted_text(version))
        return found

    def _fits(self, alike: AlikeNodes, version: int) -> bool:
        signature = self._operators.schemas.find(alike.operator.domain, alike.operator.op_type, version)
        return signature is not None and not signature.deprecated and fits(signature, alike)


_BROADCASTS: Final = 7
"""The first version of the default domain with today's broadcasting: with earlier ones, shapes may not fit."""

_CHANGED: Final = {"Hardmax": 13, "LogSoftmax": 13, "Softmax": 13}
"""Operators that compute something else from a version on, unless the axis is the last one."""


def _are_kept(nodes: Iterable[AlikeNodes], imported: int, version: int, rank_of: RankOf) -> bool | None:
    """Return whether all nodes compute the same with another version; None if unknown ranks leave that open."""
    low, high = sorted((imported, version))
    crossing = [each for each in nodes if low < _CHANGED.get(each.operator.op_type, 0) <= high]
    answers = {_is_kept(node, rank_of(node)) for each in crossing for node in each.nodes}
    if False in answers:
        return False
    return None if None in answers else True


def _is_kept(node: Node, rank: int | None) -> bool | None:
    """Return whether a node computes along the last axis in all versions: without an axis it is axis 1 in old ones.

    Also true if the axis is outside of the input, which no version allows. None if that depends on an unknown rank.
    """
    axis = next((each.i for each in node.attribute_protos if each.name == "axis"), None)
    if axis == -1:
        return True
    if rank is None:
        return None
    position = 1 if axis is None else axis
    return position >= rank - 1 or position < -rank
