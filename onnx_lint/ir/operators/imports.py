# SPDX-License-Identifier: Apache-2.0
"""The operator sets that the model and its functions import, and which domains their nodes have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

from onnx_lint import schema
from onnx_lint.common.cached import remembered
from onnx_lint.common.record import EMPTY, Record, replace
from onnx_lint.common.salted import salted_key
from onnx_lint.ir.graph import Function, Graph, Node
from onnx_lint.ir.places.place import ROOT, Place
from onnx_lint.schema import Proto
from onnx_lint.spec.releases import MAX_OPSET_VERSION, ML_DOMAIN, newest_opset_version, normalized_domain


class Importer(Record):
    """The model, or a function of it, with the operator sets that it imports."""

    entries: Sequence[Proto]
    """Each OperatorSetIdProto of the list."""
    place: Place
    """The message that holds the list."""
    function: Function | None
    """None for the model."""


class _Stated(Record):
    """A list of imports."""

    versions: Mapping[str, int]
    domains: frozenset[str]
    is_usual: bool


_List = tuple[tuple[str, int], ...]
"""The domains and versions of a list, as they are written."""


class Imports:
    """The lists of imported operator sets: of the model, and of each function.

    A file that holds something other than a model has no list; `implied` are then its versions by domain. `assumed`
    are those of domains that a model uses and does not import: the versions that its target takes.

    Exporters give all functions the same few lists, so that each question is answered once for each distinct list.
    """

    def __init__(
        self,
        stated: Sequence[Proto] | None,
        functions: Sequence[Function],
        implied: Mapping[str, int] = EMPTY,
        assumed: Mapping[str, int] = EMPTY,
    ) -> None:
        self.are_stated = stated is not None
        """True if the file has a list for nodes outside of functions, as models do."""
        self._outside: Sequence[Proto] = stated if stated is not None else _entries(implied)
        self._functions = functions
        self._numbers: list[int] = []
        """For the model, then for each function, the number of its list among the distinct ones."""
        self.distinct: list[Sequence[Proto]] = []
        """The lists that differ, in the order in which they come first: that of the model leads."""
        known: dict[bytes, int] = {}
        self._stated: list[_Stated] = []
        for entries in (self._outside, *[function.proto.opset_import for function in functions]):
            written = tuple([(entry.domain, entry.version) for entry in entries])
            key = salted_key(written)
            number = known.get(key)
            if number is None:
                number = known[key] = len(self.distinct)
                self.distinct.append(entries)
                self._stated.append(_stated(written))
            self._numbers.append(number)
        if assumed and self._outside:
            outside = self._stated[0]
            self._stated[0] = replace(outside, versions={**assumed, **outside.versions})

    def number_of(self, function: Function | None) -> int:
        """Return a number that functions with the same imports share; the model's is 0."""
        return 0 if function is None else self._numbers[function.index + 1]

    def count(self, function: Function | None) -> int:
        """Return the number of entries in the list of the function, or of the model."""
        return len(self.distinct[self.number_of(function)])

    def domains(self, function: Function | None) -> frozenset[str]:
        """Return the imported domains of the function, or of the model; the default domain is empty."""
        return self._stated[self.number_of(function)].domains

    def versions(self, function: Function | None) -> Mapping[str, int]:
        """Return the imported version of each domain of the function, or of the model, see `highest_versions`."""
        return self._stated[self.number_of(function)].versions

    def all_have(self, domains: Set[str]) -> bool:
        """Return true if the model and each function import all of these domains; the default one is empty."""
        return all(domains <= stated.domains for stated in self._stated)

    @property
    def are_usual(self) -> bool:
        """True if the model and each function import each domain once, in a published version, and no ONNX-ML.

        For a domain that ONNX does not publish, which must be a reverse domain name, any version counts.
        """
        return all(stated.is_usual for stated in self._stated)

    @property
    def are_of_onnx(self) -> bool:
        """True if the model and each function import ai.onnx and nothing else."""
        return all(stated.domains == {""} for stated in self._stated)

    def where(self, is_wanted: Callable[[Sequence[Proto]], bool]) -> Iterator[Importer]:
        """Yield the model and functions whose list is wanted; `is_wanted` is called once for each distinct list."""
        wanted = {number for number, entries in enumerate(self.distinct) if is_wanted(entries)}
        if not wanted:
            return
        for index, number in enumerate(self._numbers):
            if number not in wanted:
                continue
            if index == 0:
                if self.are_stated:
                    yield Importer(self._outside, ROOT, None)
            else:
                function = self._functions[index - 1]
                yield Importer(function.proto.opset_import, function.place, function)


def _entries(versions: Mapping[str, int]) -> list[Proto]:
    entry = schema.message("OperatorSetIdProto")
    return [entry(domain=domain, version=version) for domain, version in versions.items()]


@remembered(256)
def _stated(entries: _List) -> _Stated:
    domains = [normalized_domain(domain) for domain, _ in entries]
    is_usual = len(set(domains)) == len(domains) and all(_is_usual(*entry) for entry in entries)
    return _Stated(_highest(entries), frozenset(domains), is_usual)


def _is_usual(domain: str, version: int) -> bool:
    newest = newest_opset_version(domain)
    if newest is None:
        from onnx_lint.spec.domains import is_reverse_domain_name

        return is_reverse_domain_name(domain) and 1 <= version <= MAX_OPSET_VERSION
    return domain != ML_DOMAIN and 1 <= version <= newest


def highest_versions(entries: Iterable[Proto]) -> dict[str, int]:
    """Return the imported version of each domain; the highest if there are several, as the specification requires.

    The default domain is empty. Entries with an impossible version are skipped.
    """
    return _highest([(entry.domain, entry.version) for entry in entries])


def _highest(entries: Iterable[tuple[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for written, version in entries:
        if version >= 1:
            domain = normalized_domain(written)
            found[domain] = max(version, found.get(domain, 0))
    return found


def domains_in_use(graphs: Iterable[Graph]) -> dict[int | None, frozenset[str]]:
    """Return the domains of the nodes in each function, as `count_domains` counts them."""
    return {owner: frozenset(counts) for owner, counts in count_domains(graphs).items()}


def count_domains(graphs: Iterable[Graph]) -> dict[int | None, Counter[str]]:
    """Count the nodes of each domain, in the order of first use, by the index of the function.

    None is for those outside of functions. Nodes of nested graphs count for the function around them. The default
    domain is empty, however it is spelt.
    """
    counts: dict[int | None, Counter[str]] = {None: Counter()}
    for graph in graphs:
        of_function = counts.setdefault(graph.function_index, Counter())
        for form, count in graph.form_counts.items():
            of_function[normalized_domain(form.domain)] += count
    return counts


class DomainUsers:
    """The nodes of each domain, in each function by its index, and outside of functions under None."""

    def __init__(self, graphs: Iterable[Graph]) -> None:
        self._graphs: dict[int | None, list[Graph]] = {}
        for graph in graphs:
            self._graphs.setdefault(graph.function_index, []).append(graph)

    def nodes(self, owner: int | None, domain: str) -> list[Node]:
        """Return all of them."""
        found: list[Node] = []
        for graph in self._graphs[owner]:
            found += graph.nodes_of({form for form in graph.form_counts if normalized_domain(form.domain) == domain})
        return found

    def first(self, owner: int | None, domain: str) -> Node:
        """Return the first of them. There must be one."""
        forms = ((graph, form) for graph in self._graphs[owner] for form in graph.form_counts)
        return next(graph.first_of(form) for graph, form in forms if normalized_domain(form.domain) == domain)
