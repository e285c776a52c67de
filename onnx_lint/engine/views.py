# SPDX-License-Identifier: Apache-2.0
"""Descriptions of nodes and values that contain no names. An edit at one place of a graph changes few of them.

A node in front of others moves no node counted from the end, and the other way round. Constants count as no node, like
the initializers that they may become, and a value is the same before and after an Identity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Final, NamedTuple

from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import Record, field_names, replace
from onnx_lint.engine.ordered_texts import EndCut, OrderedTexts
from onnx_lint.ir.graph import Graph

_PASSED_ON: Final = frozenset({"Constant", "Identity"})
"""The operators whose nodes optimizers add and remove: they count as no node between others."""

MOST_AROUND: Final = 8
"""The most inputs, outputs, and users of an output that identify a node, which may have thousands."""


TOLERATED_ADDITIONS: Final = (EndCut(0, 0), EndCut(1, 1), EndCut(1, 2), EndCut(2, 1), EndCut(2, 2))
"""How many nodes may have been added before and behind all others of a graph: a baseline still knows the others.

If nodes are added on one side only, `View.before` or `View.behind` stays the same, however many they are.
"""


class Description(NamedTuple):
    """Texts that describe a place, or a step to it."""

    kind: str
    """The name of the field of `PlaceDigests` that has their digest."""
    texts: tuple[str, ...]


class LegacyView(Record):
    """The descriptions of a step to a place that entries of older versions have."""

    from_start: str
    """The position of the node counted from the first one, and the nodes that its inputs come from."""
    from_end: str
    """The position of the node counted from the last one, and the nodes that use its outputs."""
    by_operators: str
    """The number of the node among those with its operator, and the nodes before and after it, numbered the same."""


class View(Record):
    """The descriptions of a step to a place that entries of today have."""

    before: str
    """`LegacyView.from_start`, and the operators of all nodes before."""
    behind: str
    """`LegacyView.from_end`, and the operators of all nodes behind."""
    both_ends: str
    """`LegacyView.from_start` and `LegacyView.from_end`."""
    whole: tuple[str, ...]
    """The position of the node and the operators of all nodes of the graph, without the first and last ones: a text for
    each of `TOLERATED_ADDITIONS`."""


class StepViews(Record):
    """All descriptions of a step to a place."""

    legacy: LegacyView
    view: View

    def within(self, field: str) -> StepViews:
        """Return the descriptions of an element of another list, which is described by this step."""
        legacy, view = self.legacy, self.view
        return StepViews(
            legacy=LegacyView(
                from_start=f"{field} {legacy.from_start}",
                from_end=f"{field} {legacy.from_end}",
                by_operators=f"{field} {legacy.by_operators}",
            ),
            view=View(
                before=f"{field} {view.before}",
                behind=f"{field} {view.behind}",
                both_ends=f"{field} {view.both_ends}",
                whole=tuple([f"{field} {text}" for text in view.whole]),
            ),
        )


def described(steps: Sequence[StepViews]) -> list[Description]:
    """Return the descriptions of a place: for each field of the views, the texts of all steps to it.

    `View.whole` gives one for each of `TOLERATED_ADDITIONS`.
    """
    # Nodes are added to the main graph alone: of other graphs, no nodes are left out.
    cut = next((at for at, step in enumerate(steps) if len(set(step.view.whole)) > 1), None)
    found = [Description(field, tuple([getattr(step.legacy, field) for step in steps])) for field in _LEGACY_FIELDS]
    found += [Description(field, tuple([getattr(step.view, field) for step in steps])) for field in _SINGLE_FIELDS]
    for number in range(len(TOLERATED_ADDITIONS)):
        texts = [step.view.whole[number if at == cut else 0] for at, step in enumerate(steps)]
        found.append(Description("whole", tuple(texts)))
    return found


_LEGACY_FIELDS: Final = field_names(LegacyView)
_SINGLE_FIELDS: Final = ("before", "behind", "both_ends")


def same_view(text: str) -> StepViews:
    """Return the views of a step that has one description."""
    legacy = LegacyView(from_start=text, from_end=text, by_operators=text)
    return StepViews(legacy=legacy, view=_same_view(text))


def _same_view(text: str) -> View:
    return View(before=text, behind=text, both_ends=text, whole=(text,) * len(TOLERATED_ADDITIONS))


class _ValueSource(NamedTuple):
    """What a value comes from: a node or an input of the graph; empty texts for anything else."""

    position: str
    """Its operator, and the number of the nodes before it that count."""
    number: str
    """Its operator, and its number among the nodes of this operator, from 1."""


_NO_SOURCE: Final = _ValueSource("", "")
"""The source of a value that a Constant or an initializer gives, or that nothing defines."""


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
        self._sources = {name: _ValueSource(f"input {at}", f"input {at}") for at, name in enumerate(graph.input_names)}
        """The source of each value."""
        self._users: dict[str, list[_User]] = {}
        """The users of each value, the last one first."""
        counted: list[str] = []
        seen: Counter[str] = Counter()
        for operator, inputs, outputs in zip(self._operators, self._inputs, self._outputs, strict=True):
            self._numbers.append(seen[operator])
            self._positions.append(len(counted))
            seen[operator] += 1
            if operator in _PASSED_ON:
                source = self._sources.get(inputs[0], _NO_SOURCE) if inputs else _NO_SOURCE
            else:
                source = _ValueSource(f"{operator} {len(counted)}", f"{operator} {seen[operator]}")
                counted.append(operator)
            self._sources.update(dict.fromkeys(outputs, source))
        self._count = len(counted)
        self._nodes = OrderedTexts(counted)
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
    def _graph_inputs(self) -> OrderedTexts:
        """The inputs of the graph, each by the operators that use it."""
        return OrderedTexts([self._operators_at(self._users.get(name, ())) for name in self._graph.input_names])

    @cached_property
    def _graph_outputs(self) -> OrderedTexts:
        """The outputs of the graph, each by the operator that makes it."""
        makers = {
            name: operator for operator, names in zip(self._operators, self._outputs, strict=True) for name in names
        }
        return OrderedTexts([makers.get(name, "") for name in self._graph.output_names])

    def _operators_at(self, users: Iterable[_User]) -> str:
        return str([(None if index is None else self._operators[index], operand) for index, operand in users])

    def of_element(self, field: str, index: int, *, may_be_any: bool = False) -> StepViews:
        """Return the views of an element of a list of the graph. `may_be_any`: see `of_node`."""
        graph = self._graph
        if field == "node" and index < len(self._operators):
            return self.of_node(index, may_be_any=may_be_any)
        if field == "value_info" and index < len(graph.value_info_names):
            return self.of_value(graph.value_info_names[index], index).within(field)
        if field == "initializer" and index < len(graph.initializer_names):
            return self.of_initializer(graph.initializer_names[index], index)
        if field == "quantization_annotation":
            return self.of_value(annotated(graph, index), index).within(field)
        return self._of_index(field, index)

    def _of_index(self, field: str, index: int) -> StepViews:
        """Return the views of an input, an output, or an element of a list whose order has no meaning."""
        if field == "input":
            return _in_list(field, index, len(self._graph.input_names), self._graph_inputs)
        if field == "output":
            return _in_list(field, index, len(self._graph.output_names), self._graph_outputs)
        count = len(self._graph.initializer_names) if field == "initializer" else 0
        start, end = f"{field} {index}", f"{field} {index - count} from the end"
        legacy = LegacyView(from_start=start, from_end=end, by_operators=start)
        return StepViews(legacy=legacy, view=_same_view(start))

    def of_node(self, index: int, *, may_be_any: bool = False) -> StepViews:
        """Return the views of a node.

        `may_be_any`: whether it may have had any other operator, since the fault is its operator.
        """
        if self._operators[index] in _PASSED_ON:
            return self._of_passed_on(index)
        start, end = self._from_start(index), self._from_end(index)
        legacy = LegacyView(from_start=start, from_end=end, by_operators=self._by_operators(index))
        position = self._positions[index]
        if may_be_any:
            # A wrong operator may have been a Constant or an Identity, which do not count.
            start += f" {self._uncounted_before(index)}"
            end += f" {self._uncounted(range(index + 1, len(self._operators)))}"
        view = View(
            before=f"{start} {self._nodes.before(position, may_be_any=may_be_any)}",
            behind=f"{end} {self._nodes.behind(position, may_be_any=may_be_any)}",
            both_ends=f"{start} {end}",
            whole=self._whole("node", [_User(index, 0)], index if may_be_any else None),
        )
        return StepViews(legacy=legacy, view=view)

    def _of_passed_on(self, index: int) -> StepViews:
        """Return the views of a Constant or an Identity: by its users, and its number among all.

        The users of two nodes may be the same behind an Identity.
        """
        operator, position, number = self._operators[index], self._positions[index], self._numbers[index]
        start = self._from_start(index, number)
        legacy = LegacyView(
            from_start=start, from_end=self._from_end(index, number), by_operators=self._by_operators(index)
        )
        users = [user for users in self._users_of(index) for user in users]
        by_users = self._of_users(operator, users)
        if operator == "Constant" and users:
            return StepViews(legacy=legacy, view=by_users)
        count = self._operators.count(operator)
        start_with_all = f"{start} {self._nodes.before(position)}"
        view = View(
            before=f"{operator} {number} of {count} {start_with_all}",
            behind=f"{by_users.behind} {count - number} from the end",
            both_ends=f"{start_with_all} {by_users.both_ends}",
            whole=self._whole(f"{operator} {number} of {count}", [], None),
        )
        return StepViews(legacy=legacy, view=view)

    def _from_start(self, index: int, number: int | str = "") -> str:
        """Return `LegacyView.from_start`. `number`: that of a Constant or an Identity, whose position others share."""
        sources = [source.position for source in self._sources_of(index)]
        return f"{self._operators[index]} {self._positions[index]} {number} {sources}"

    def _from_end(self, index: int, number: int | str = "") -> str:
        """Return `LegacyView.from_end`. `number`: see `_from_start`."""
        users = [self._ends(users) for users in self._users_of(index)]
        return f"{self._operators[index]} {self._count - self._positions[index]} {number} {users}"

    def _by_operators(self, index: int) -> str:
        """Return `LegacyView.by_operators`."""
        sources = [source.number for source in self._sources_of(index)]
        users = [self._numbers_of(users) for users in self._users_of(index)]
        return f"{self._operators[index]} {self._numbers[index]} {sources} {users}"

    def _sources_of(self, index: int) -> list[_ValueSource]:
        return [self._sources.get(name, _NO_SOURCE) for name in self._inputs[index][:MOST_AROUND]]

    def _users_of(self, index: int) -> list[list[_User]]:
        return [self._users.get(name, []) for name in self._outputs[index][:MOST_AROUND] if name]

    def _uncounted_before(self, index: int) -> int:
        return self._uncounted(range(index - 1, -1, -1))

    def _uncounted(self, indices: Iterable[int]) -> int:
        """Return the number of nodes that do not count, up to the first that does."""
        return sum(1 for _ in takewhile(lambda index: self._operators[index] in _PASSED_ON, indices))

    def _of_users(self, label: str, users: Sequence[_User]) -> View:
        """Return the view of a value: by its users. `label`: what else describes it."""
        starts, ends = self._starts(users), self._ends(users)
        at = [self._position_of(user) for user in users if user.node is not None]
        return View(
            before=f"{label} {starts} {[self._nodes.before(each) for each in at]}",
            behind=f"{label} {ends} {[self._nodes.behind(each) for each in at]}",
            both_ends=f"{label} {starts} {ends}",
            whole=self._whole(label, users, None),
        )

    def _whole(self, label: str, users: Sequence[_User], at_fault: int | None) -> tuple[str, ...]:
        """Return `View.whole`. `at_fault`: the index of the node whose operator is wrong."""
        position = None
        if at_fault is not None:
            position = self._positions[at_fault]
            label = f"{label} {self._uncounted_before(at_fault)}"
        texts = []
        for cut in TOLERATED_ADDITIONS:
            at = [self._at(user, self._position_of(user) - cut.first) for user in users]
            doubt = " in doubt" if self._nodes.is_ambiguous(cut, position) else ""
            texts.append(f"{label} {at} {self._nodes.whole(cut)}{doubt}")
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

    def of_value(self, name: str, index: int) -> StepViews:
        """Return the views of the definition of a value. One that nothing defines has its index in the list."""
        found = self._graph.first_definition(name)
        if found is None:
            return same_view(str(index))
        if found.field == "initializer":
            return self.of_initializer(name, found.index)
        if found.node is None:
            text = f"{found.field} {found.index}"
            legacy = LegacyView(from_start=text, from_end=text, by_operators=text)
            return StepViews(legacy=legacy, view=self._of_index(found.field, found.index).view)
        return self.of_node(found.node.index).within(str(found.index))

    def of_initializer(self, name: str, index: int) -> StepViews:
        """Return the views of an initializer by its users. One without users has its index."""
        return self.of_users(name) or same_view(f"initializer {index}")

    def of_users(self, name: str) -> StepViews | None:
        """Return the views of a stored tensor by its users; None without any."""
        users = self._users.get(name)
        if not users:
            return None
        number, end = f"initializer {self._numbers_of(users)}", f"initializer {self._ends(users)}"
        legacy = LegacyView(from_start=number, from_end=end, by_operators=number)
        return StepViews(legacy=legacy, view=self._of_users("initializer", users))


def annotated(graph: Graph, index: int) -> str:
    """Return the name of the tensor that a quantization annotation is about."""
    entries = () if graph.is_function else graph.proto.quantization_annotation[index : index + 1]
    return next((str(entry.tensor_name) for entry in entries), "")


def _in_list(field: str, index: int, count: int, elements: OrderedTexts) -> StepViews:
    """Return the views of an input or output of a graph."""
    start, end = f"{field} {index}", f"{field} {index - count} from the end"
    legacy = LegacyView(from_start=start, from_end=end, by_operators=start)
    view = _same_view(f"{start} of {count}")
    if index < count:  # and not an entry that no parser reads
        before, behind = f"{start} {elements.before(index)}", f"{end} {elements.behind(index)}"
        view = replace(view, before=before, behind=behind)
    return StepViews(legacy=legacy, view=view)
