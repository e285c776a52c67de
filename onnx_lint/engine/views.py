# SPDX-License-Identifier: Apache-2.0
"""Descriptions of nodes and values that contain no names. An edit at one place of a graph changes few of them.

A node in front of others moves no node counted from the end, and the other way round. Constants count as no node, like
the initializers that they may become, and a value is the same before and after an Identity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice, takewhile
from typing import Final, NamedTuple

from onnx_lint.common.cached import cached_property
from onnx_lint.ir.graph import Graph

_PASSED_ON: Final = frozenset({"Constant", "Identity"})
"""The operators whose nodes optimizers add and remove: they count as no node between others."""

MOST_AROUND: Final = 8
"""The most inputs, outputs, and users of an output that identify a node, which may have thousands."""


CUTS: Final = ((0, 0), (1, 1), (1, 2), (2, 1), (2, 2))
"""The numbers of nodes that may have come to both ends of a graph at the same time, and a baseline knows the others.

If all of them come to one end, `View.before` or `View.behind` stays the same.
"""


class View(NamedTuple):
    """The descriptions of one step to a place.

    A baseline compares the first three with entries of older versions, and the others with those of today.
    """

    from_start: str
    """The position of the node counted from the first one, and the nodes that its inputs come from."""
    from_end: str
    """The position of the node counted from the last one, and the nodes that use its outputs."""
    by_operators: str
    """The number of the node among those with its operator, and the nodes before and after it, numbered the same."""
    before: str
    """`from_start`, and the operators of all nodes before."""
    behind: str
    """`from_end`, and the operators of all nodes behind."""
    both_ends: str
    """`from_start` and `from_end`."""
    whole: tuple[str, ...]
    """The position of the node and the operators of all nodes of the graph, but the first and last ones, as in `CUTS`.
    """

    def within(self, field: str) -> View:
        """Return the same for an element of another list, which is described by this one."""
        start, end, by_operators, before, behind, both_ends = (f"{field} {text}" for text in self[:-1])
        whole = tuple([f"{field} {text}" for text in self.whole])
        return View(start, end, by_operators, before, behind, both_ends, whole)


COLUMNS: Final = len(View._fields) - 1 + len(CUTS)
"""The number of the descriptions."""


def same_view(text: str) -> View:
    """Return the view of a step that has one description."""
    return View(text, text, text, text, text, text, (text,) * len(CUTS))


class _Prefixes:
    """Digests of the first elements of a list.

    If the list begins with equal elements, one more of them moves a fault to the next one without a trace. So for these
    elements, the digest contains the length of the list.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self.digests = _digests(texts)
        differs = (index for index, text in enumerate(texts) if text != texts[0])
        self._equal = next(differs, len(texts))

    def of(self, index: int, *, is_of_operator: bool) -> str:
        """Return the digest of the elements before an index. `is_of_operator`: see `GraphViews.of_node`."""
        own = index + is_of_operator  # an operator at fault may have been any other one
        is_equal = own < len(self._texts) and self._texts[own] == self._texts[0]
        is_in_doubt = 0 < index <= self._equal and is_equal
        return f"{self.digests[index]:x} of {len(self._texts)}" if is_in_doubt else f"{self.digests[index]:x}"


class _Ordered:
    """A list of texts, with a digest of those before and behind each element."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts, self._length = texts, len(texts)
        self._different: dict[tuple[int, int, int], list[int]] = {}
        self._of_cut: dict[tuple[int, int], str] = {}
        self._forwards, self._backwards = _Prefixes(texts), _Prefixes(texts[::-1])

    def before(self, index: int, *, is_of_operator: bool = False) -> str:
        """Return the digest of the elements before an index."""
        return self._forwards.of(index, is_of_operator=is_of_operator)

    def behind(self, index: int, *, is_of_operator: bool = False) -> str:
        """Return the digest of the elements behind an index."""
        return self._backwards.of(self._length - 1 - index, is_of_operator=is_of_operator)

    def whole(self, cut: tuple[int, int]) -> str:
        """Return the digest of all elements without some at the start and at the end."""
        if cut not in self._of_cut:
            start = min(cut[0], self._length)
            end = max(start, self._length - cut[1])
            digests = self._forwards.digests
            digest = (digests[end] - digests[start] * pow(_FACTOR, end - start, _PRIME)) % _PRIME
            self._of_cut[cut] = f"{digest:x}"
        return self._of_cut[cut]

    def is_doubtful(self, cut: tuple[int, int], at_fault: int | None) -> bool:
        """Return whether the list may be the same one without other elements at its ends.

        `at_fault`: the index of an element that may have been equal to any other one.
        """
        start, count = cut[0], sum(cut)
        for other in range(count + 1) if count else ():
            own = () if at_fault is None else (at_fault - start, at_fault - other)
            if other != start and not any(each not in own for each in self._differences(start, other, count)):
                return True
        return False

    def _differences(self, start: int, other: int, count: int) -> list[int]:
        """Return the first indices at which the list from one index on differs from the list from another one on."""
        key = start, other, count
        if key not in self._different:
            length = max(0, self._length - count)
            pairs = zip(self._texts[start : start + length], self._texts[other : other + length], strict=True)
            found = (at for at, (one, another) in enumerate(pairs) if one != another)
            self._different[key] = list(islice(found, _MOST_OWN + 1))
        return self._different[key]


_MOST_OWN: Final = 2
"""The most places of one element in two lists."""

_PRIME: Final = (1 << 89) - 1
_FACTOR: Final = 0x9E3779B97F4A7C15F39CC


def _digests(texts: Iterable[str]) -> list[int]:
    """Return the digest of no text, of the first one, of the first two, and so on."""
    from onnx_lint.common.digest import sha256

    known: dict[str, int] = {}
    digests = [0]
    for text in texts:
        if text not in known:
            known[text] = int(sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20], 16)
        digests.append((digests[-1] * _FACTOR + known[text] + 1) % _PRIME)
    return digests


class _User(NamedTuple):
    """A node that uses a value, or an output of the graph."""

    node: int | None
    """The index of the node; None for an output."""
    operand: int
    """The number of the input, or of the output of the graph."""


class GraphViews:
    """The views of the elements of one graph."""

    def __init__(self, graph: Graph) -> None:
        table = graph.table
        self._graph = graph
        self._operators = [form.op_type for form in table.forms]
        self._inputs, self._outputs = table.inputs, table.outputs
        self._positions: list[int] = []
        """The number of the nodes before each node."""
        self._numbers: list[int] = []
        """The number of each node among those of its operator."""
        self._sources = {name: (f"input {at}", f"input {at}") for at, name in enumerate(graph.input_names)}
        """The position of the node that a value comes from, and its number."""
        self._users: dict[str, list[_User]] = {}
        """The users of each value, the last one first."""
        counted: list[str] = []
        seen: Counter[str] = Counter()
        for operator, inputs, outputs in zip(self._operators, self._inputs, self._outputs, strict=True):
            self._numbers.append(seen[operator])
            self._positions.append(len(counted))
            seen[operator] += 1
            source = (f"{operator} {len(counted)}", f"{operator} {seen[operator]}")
            if operator in _PASSED_ON:
                source = self._sources.get(inputs[0], _NOTHING) if inputs else _NOTHING
            else:
                counted.append(operator)
            self._sources.update(dict.fromkeys(outputs, source))
        self._count = len(counted)
        self._nodes = _Ordered(counted)
        for at, name in enumerate(graph.output_names):
            self._use(name, _User(None, at))
        for index in range(len(self._operators) - 1, -1, -1):
            self._note_uses(index)

    def _note_uses(self, index: int) -> None:
        if self._operators[index] in _PASSED_ON:
            users = [user for name in self._outputs[index] for user in self._users.get(name, ())]
            for name in self._inputs[index]:
                self._use(name, *users)
            return
        for operand, name in enumerate(self._inputs[index]):
            self._use(name, _User(index, operand))

    def _use(self, name: str, *users: _User) -> None:
        known = self._users.setdefault(name, [])
        known.extend(users[: MOST_AROUND - len(known)])

    @cached_property
    def _graph_inputs(self) -> _Ordered:
        """The inputs of the graph, each by the operators that use it."""
        return _Ordered([self._operators_at(self._users.get(name, ())) for name in self._graph.input_names])

    @cached_property
    def _graph_outputs(self) -> _Ordered:
        """The outputs of the graph, each by the operator that makes it."""
        makers = {
            name: operator for operator, names in zip(self._operators, self._outputs, strict=True) for name in names
        }
        return _Ordered([makers.get(name, "") for name in self._graph.output_names])

    def _operators_at(self, users: Iterable[_User]) -> str:
        return str([(None if index is None else self._operators[index], operand) for index, operand in users])

    def of_element(self, field: str, index: int) -> View:
        """Return the view of an input, an output, or an element of a list whose elements have no order of their own."""
        if field == "input":
            return _in_list(field, index, len(self._graph.input_names), self._graph_inputs)
        if field == "output":
            return _in_list(field, index, len(self._graph.output_names), self._graph_outputs)
        count = len(self._graph.initializer_names) if field == "initializer" else 0
        text = f"{field} {index}"
        return same_view(text)._replace(from_end=f"{field} {index - count} from the end")

    def of_node(self, index: int, *, is_of_operator: bool = False) -> View:
        """Return the view of a node. A Constant is described by its users.

        `is_of_operator`: whether the fault is the operator of the node.
        """
        operator, position, number = self._operators[index], self._positions[index], self._numbers[index]
        is_passed_on = operator in _PASSED_ON
        before = [self._sources.get(name, _NOTHING) for name in self._inputs[index][:MOST_AROUND]]
        after = [self._users.get(name, []) for name in self._outputs[index][:MOST_AROUND] if name]
        among = number if is_passed_on else ""
        start = f"{operator} {position} {among} {[start for start, _ in before]}"
        end = f"{operator} {self._count - position} {among} {[self._ends(users) for users in after]}"
        by_operators = (
            f"{operator} {number} {[each for _, each in before]} {[self._numbers_of(users) for users in after]}"
        )
        if is_passed_on:
            users = [user for users in after for user in users]
            of_others = self._of_passed_on(operator, f"{start} {self._nodes.before(position)}", number, users)
            return View(start, end, by_operators, *of_others)
        before_all = self._nodes.before(position, is_of_operator=is_of_operator)
        behind_all = self._nodes.behind(position, is_of_operator=is_of_operator)
        whole = self._whole("node", [_User(index, 0)], index if is_of_operator else None)
        # A wrong operator may have been a Constant or an Identity, which do not count.
        gaps = self._uncounted(range(index - 1, -1, -1)), self._uncounted(range(index + 1, len(self._operators)))
        first, last = (f" {gap}" if is_of_operator else "" for gap in gaps)
        sides = f"{start}{first} {before_all}", f"{end}{last} {behind_all}", f"{start}{first} {end}{last}"
        return View(start, end, by_operators, *sides, whole)

    def _uncounted(self, indices: Iterable[int]) -> int:
        """Return the number of nodes that do not count, up to the first that does."""
        return sum(1 for _ in takewhile(lambda index: self._operators[index] in _PASSED_ON, indices))

    def _of_passed_on(
        self, operator: str, start: str, number: int, users: Sequence[_User]
    ) -> tuple[str, str, str, tuple[str, ...]]:
        """Return the last texts of the view of a Constant or an Identity: by its users, and its number among all.

        The users of two nodes may be the same behind an Identity. `start`: what describes the node from the start.
        """
        count = self._operators.count(operator)
        among = f"{operator} {number} of {count}"
        if operator == "Constant" and users:
            return self._of_users(operator, users)
        _, behind, both, _ = self._of_users(operator, users)
        end = f"{behind} {count - number} from the end"
        return f"{among} {start}", end, f"{start} {both}", self._whole(among, [], None)

    def _of_users(self, label: str, users: Sequence[_User]) -> tuple[str, str, str, tuple[str, ...]]:
        """Return the last texts of the view of a value: by its users. `label`: what else describes it."""
        starts, ends = self._starts(users), self._ends(users)
        at = [self._position_of(user) for user in users if user.node is not None]
        before, behind = [self._nodes.before(each) for each in at], [self._nodes.behind(each) for each in at]
        texts = f"{starts} {before}", f"{ends} {behind}", f"{starts} {ends}"
        start, end, both = (f"{label} {text}" for text in texts)
        return start, end, both, self._whole(label, users, None)

    def _whole(self, label: str, users: Sequence[_User], at_fault: int | None) -> tuple[str, ...]:
        """Return `View.whole`. `at_fault`: the index of the node whose operator is wrong."""
        texts = []
        position = None if at_fault is None else self._positions[at_fault]
        own = "" if at_fault is None else f" {self._uncounted(range(at_fault - 1, -1, -1))}"
        for cut in CUTS:
            at = [self._at(user, self._position_of(user) - cut[0]) for user in users]
            doubt = " in doubt" if self._nodes.is_doubtful(cut, position) else ""
            texts.append(f"{label}{own} {at} {self._nodes.whole(cut)}{doubt}")
        return tuple(texts)

    def _starts(self, users: Iterable[_User]) -> list[str]:
        return [self._at(user, self._position_of(user)) for user in users]

    def _ends(self, users: Iterable[_User]) -> list[str]:
        return [self._at(user, self._count - self._position_of(user)) for user in users]

    def _numbers_of(self, users: Iterable[_User]) -> list[str]:
        return [self._at(user, 0 if user.node is None else self._numbers[user.node]) for user in users]

    def _position_of(self, user: _User) -> int:
        return 0 if user.node is None else self._positions[user.node]

    def _at(self, user: _User, place: int | str) -> str:
        node, operand = user
        return f"output {operand}" if node is None else f"{self._operators[node]} {place} {operand}"

    def of_value(self, name: str, index: int) -> View:
        """Return the view of the definition of a value. One that nothing defines has its index in the list."""
        found = self._graph.first_definition(name)
        if found is None:
            return same_view(str(index))
        if found.field == "initializer":
            return self.of_initializer(name, found.index)
        if found.node is None:
            text = f"{found.field} {found.index}"
            return View(text, text, text, *self.of_element(found.field, found.index)[3:])
        return self.of_node(found.node.index).within(str(found.index))

    def of_initializer(self, name: str, index: int) -> View:
        """Return the view of an initializer by its users. One without users has its index."""
        return self.of_users(name) or same_view(f"initializer {index}")

    def of_users(self, name: str) -> View | None:
        """Return the view of a stored tensor by its users; None without any."""
        users = self._users.get(name)
        if not users:
            return None
        number, end = f"initializer {self._numbers_of(users)}", f"initializer {self._ends(users)}"
        return View(number, end, number, *self._of_users("initializer", users))


def _in_list(field: str, index: int, count: int, elements: _Ordered) -> View:
    """Return the view of an input or output of a graph."""
    start, end = f"{field} {index}", f"{field} {index - count} from the end"
    view = same_view(f"{start} of {count}")._replace(from_start=start, from_end=end, by_operators=start)
    if index >= count:  # an entry that no parser reads
        return view
    return view._replace(before=f"{start} {elements.before(index)}", behind=f"{end} {elements.behind(index)}")


_NOTHING: Final = ("", "")
"""The source of a value that a Constant or an initializer gives, or that nothing defines."""
