# SPDX-License-Identifier: Apache-2.0
"""Descriptions of nodes and values that contain no names. An edit at one place of a graph changes few of them.

A node before others changes no position counted from the end, and a node after others none counted from the start.
Constants are not counted, like the initializers that they may become, and an Identity is not counted either.

The digests of these texts are stored in baselines. If a text changes, even by a space, the entries that were written
before no longer match it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Final, NamedTuple

from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import Record, field_names, replace
from onnx_lint.engine.ordered_texts import OmittedEnds, OrderedTexts
from onnx_lint.ir.graph import Graph

_TRANSPARENT: Final = frozenset({"Constant", "Identity"})
"""The operators whose nodes optimizers add and remove. Their nodes are not counted."""

MAX_NEIGHBOURS: Final = 8
"""The most inputs, outputs, and users of an output that identify a node, which may have thousands."""

TOLERATED_ADDITIONS: Final = tuple(OmittedEnds(*ends) for ends in ((0, 0), (1, 1), (1, 2), (2, 1), (2, 2)))
"""How many nodes may have been added before and after all others of a graph: a baseline still knows the others.

If nodes are added on one side only, `View.before` or `View.after` stays the same, however many they are.
"""

_ESCAPED: Final = (
    r"[\0-\x1f\x7f-\xa0\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u1680\u180e\u2000-\u200f\u2028-\u202f"
    r"\u205f-\u2064\u2066-\u206f\u3000\ud800-\uf8ff\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U00013438"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f\U000f0000-\U0010fffd]"
)
"""The characters that are not printable by Unicode 14, which the oldest supported Python has."""


def stable_repr(texts: Sequence[object]) -> str:
    """Return `repr` of texts and numbers, equal with every Python.

    `repr` escapes the characters that are not printable by the Unicode version of the interpreter.
    """
    text = ascii(texts)
    return re.sub(r"\\(?:x(..)|u(....)|U(.{8})|.)", _stable_character, text) if "\\" in text else text


def _stable_character(escape: re.Match[str]) -> str:
    """Return the character for an escape sequence of `ascii`, or the sequence itself if it stays escaped."""
    if escape.lastindex is None:  # a backslash, a quote, a tab, or the end of a line
        return escape[0]
    character = chr(int(escape[escape.lastindex], 16))
    return escape[0] if re.match(_ESCAPED, character) else character


class Description(NamedTuple):
    """Texts that describe a place, or a step to it."""

    kind: str
    """The name of the field of `PlaceDigests` that has their digest."""
    texts: tuple[str, ...]


class LegacyView(Record):
    """The texts of a step to a place for the fields of `PlaceDigests` that entries of older versions have."""

    from_start: str
    from_end: str
    by_operators: str
    """The nodes before have numbers from 1, the node itself and those after it have numbers from 0."""


class View(Record):
    """The texts of a step to a place for the fields of `PlaceDigests` that entries of today have."""

    before: str
    after: str
    both_ends: str
    whole: tuple[str, ...]
    """A text for each of `TOLERATED_ADDITIONS`."""


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
                after=f"{field} {view.after}",
                both_ends=f"{field} {view.both_ends}",
                whole=tuple([f"{field} {text}" for text in view.whole]),
            ),
        )


_LEGACY_FIELDS: Final = field_names(LegacyView)
_SINGLE_FIELDS: Final = ("before", "after", "both_ends")
"""The fields of `View` with one text."""


def described(steps: Sequence[StepViews]) -> list[Description]:
    """Return the descriptions of a place: for each field of the views, the texts of all steps to it.

    `View.whole` gives one for each of `TOLERATED_ADDITIONS`.
    """
    # Nodes are added to the main graph alone. The first step with different texts is the one in the main graph.
    main = next((at for at, step in enumerate(steps) if len(set(step.view.whole)) > 1), None)
    found = [Description(field, tuple([getattr(step.legacy, field) for step in steps])) for field in _LEGACY_FIELDS]
    found += [Description(field, tuple([getattr(step.view, field) for step in steps])) for field in _SINGLE_FIELDS]
    for number in range(len(TOLERATED_ADDITIONS)):
        texts = [step.view.whole[number if at == main else 0] for at, step in enumerate(steps)]
        found.append(Description("whole", tuple(texts)))
    return found


def same_view(text: str) -> StepViews:
    """Return the views of a step that has one description."""
    legacy = LegacyView(from_start=text, from_end=text, by_operators=text)
    return StepViews(legacy=legacy, view=_same_view(text))


def _same_view(text: str) -> View:
    return View(before=text, after=text, both_ends=text, whole=(text,) * len(TOLERATED_ADDITIONS))


class _ValueSource(NamedTuple):
    """The node that computes a value, or the input of the graph; empty texts for anything else."""

    position: str
    """Its operator, and the number of counted nodes before it, from 0."""
    number: str
    """Its operator, and its number among the nodes of this operator, from 1."""


_NO_SOURCE: Final = _ValueSource("", "")
"""The source of a Constant's output, of an initializer, and of a value that nothing defines."""


class _User(NamedTuple):
    """A node that uses a value, or an output of the graph."""

    node: int | None
    """The index of the node; None for an output."""
    operand: int
    """The number of the input, or of the output of the graph."""


class _NumberedNodes:
    """The nodes of one graph with their positions and numbers, and the source and the users of each value."""

    def __init__(self, graph: Graph) -> None:
        table = graph.table
        self.operators = [form.op_type for form in table.forms]
        self._inputs, self._outputs = table.inputs, table.outputs
        self.counted: list[str] = []
        """The operators of the nodes that are not transparent."""
        self.positions: list[int] = []
        """For each node, the number of counted nodes before it, from 0."""
        self.numbers: list[int] = []
        """For each node, the number of nodes of its operator before it, from 0: one less than `_ValueSource.number`."""
        self._sources = {name: _ValueSource(f"input {at}", f"input {at}") for at, name in enumerate(graph.input_names)}
        self._users: dict[str, list[_User]] = {}
        """The users of each value, the last one first."""
        self._number_nodes()
        for at, name in enumerate(graph.output_names):
            self._add_users(name, [_User(None, at)])
        for index in range(len(self.operators) - 1, -1, -1):
            self._add_uses_of_node(index)

    def _number_nodes(self) -> None:
        seen: Counter[str] = Counter()
        for operator, inputs, outputs in zip(self.operators, self._inputs, self._outputs, strict=True):
            self.numbers.append(seen[operator])
            self.positions.append(len(self.counted))
            seen[operator] += 1
            if operator in _TRANSPARENT:
                source = self._sources.get(inputs[0], _NO_SOURCE) if inputs else _NO_SOURCE
            else:
                source = _ValueSource(f"{operator} {len(self.counted)}", f"{operator} {seen[operator]}")
                self.counted.append(operator)
            self._sources.update(dict.fromkeys(outputs, source))

    def _add_uses_of_node(self, index: int) -> None:
        """Add a node as a user of its inputs; of a transparent node, the users of its outputs instead."""
        if self.operators[index] in _TRANSPARENT:
            users = [user for name in self._outputs[index] for user in self.users_of_value(name)]
            for name in self._inputs[index]:
                self._add_users(name, users)
            return
        for operand, name in enumerate(self._inputs[index]):
            self._add_users(name, [_User(index, operand)])

    def _add_users(self, name: str, users: Sequence[_User]) -> None:
        known = self._users.setdefault(name, [])
        known.extend(users[: MAX_NEIGHBOURS - len(known)])

    def users_of_value(self, name: str) -> Sequence[_User]:
        """Return the first users of a value that were found, at most `MAX_NEIGHBOURS`."""
        return self._users.get(name, ())

    def users_of_outputs(self, index: int) -> list[Sequence[_User]]:
        """Return the users of each output that a node has."""
        return [self.users_of_value(name) for name in self._outputs[index][:MAX_NEIGHBOURS] if name]

    def sources_of_inputs(self, index: int) -> list[_ValueSource]:
        """Return the source of each input of a node."""
        return [self._sources.get(name, _NO_SOURCE) for name in self._inputs[index][:MAX_NEIGHBOURS]]

    def position_of_user(self, user: _User) -> int:
        """Return the position of the node that uses a value; 0 for an output of the graph."""
        return 0 if user.node is None else self.positions[user.node]

    def number_of_user(self, user: _User) -> int:
        """Return the number of the node that uses a value; 0 for an output of the graph."""
        return 0 if user.node is None else self.numbers[user.node]

    def transparent_before(self, index: int) -> int:
        """Return the number of transparent nodes directly before a node."""
        return self._transparent_nodes(range(index - 1, -1, -1))

    def transparent_after(self, index: int) -> int:
        """Return the number of transparent nodes directly after a node."""
        return self._transparent_nodes(range(index + 1, len(self.operators)))

    def _transparent_nodes(self, indices: Iterable[int]) -> int:
        """Return the number of transparent nodes at the first of the indices."""
        return sum(1 for _ in takewhile(lambda index: self.operators[index] in _TRANSPARENT, indices))


class GraphViews:
    """The views of the elements of one graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._nodes = _NumberedNodes(graph)
        self._operators = self._nodes.operators
        self._counted = OrderedTexts(self._nodes.counted)

    @cached_property
    def _graph_inputs(self) -> OrderedTexts:
        """The inputs of the graph, each by the operators that use it."""
        return OrderedTexts([self._operators_of(self._nodes.users_of_value(name)) for name in self._graph.input_names])

    @cached_property
    def _graph_outputs(self) -> OrderedTexts:
        """The outputs of the graph, each by the operator that computes it."""
        pairs = zip(self._operators, self._graph.table.outputs, strict=True)
        operator_of = {name: operator for operator, names in pairs for name in names}
        return OrderedTexts([operator_of.get(name, "") for name in self._graph.output_names])

    def _operators_of(self, users: Iterable[_User]) -> str:
        return stable_repr(
            [(None if user.node is None else self._operators[user.node], user.operand) for user in users]
        )

    def views_of_element(self, field: str, index: int, *, may_be_any: bool = False) -> StepViews:
        """Return the views of an element of a list of the graph. `may_be_any`: see `views_of_node`."""
        graph = self._graph
        if field == "node" and index < len(self._operators):
            return self.views_of_node(index, may_be_any=may_be_any)
        if field == "value_info" and index < len(graph.value_info_names):
            return self.views_of_value(graph.value_info_names[index], index).within(field)
        if field == "initializer" and index < len(graph.initializer_names):
            return self.views_of_initializer(graph.initializer_names[index], index)
        if field == "quantization_annotation":
            return self.views_of_value(annotated(graph, index), index).within(field)
        return self._views_of_index(field, index)

    def _views_of_index(self, field: str, index: int) -> StepViews:
        """Return the views of an input, an output, or an element of a list whose order has no meaning."""
        if field == "input":
            return _in_list(field, index, len(self._graph.input_names), self._graph_inputs)
        if field == "output":
            return _in_list(field, index, len(self._graph.output_names), self._graph_outputs)
        count = len(self._graph.initializer_names) if field == "initializer" else 0
        start, end = f"{field} {index}", f"{field} {index - count} from the end"
        legacy = LegacyView(from_start=start, from_end=end, by_operators=start)
        return StepViews(legacy=legacy, view=_same_view(start))

    def views_of_node(self, index: int, *, may_be_any: bool = False) -> StepViews:
        """Return the views of a node.

        `may_be_any`: whether it may have had any other operator, since the fault is its operator.
        """
        if self._operators[index] in _TRANSPARENT:
            return self._views_of_transparent_node(index)
        start, end = self._from_start(index), self._from_end(index)
        legacy = LegacyView(from_start=start, from_end=end, by_operators=self._by_operators(index))
        position = self._nodes.positions[index]
        if may_be_any:
            # A wrong operator may have been a Constant or an Identity, which are not counted.
            start += f" {self._nodes.transparent_before(index)}"
            end += f" {self._nodes.transparent_after(index)}"
        view = View(
            before=f"{start} {self._counted.before(position, may_be_any=may_be_any)}",
            after=f"{end} {self._counted.after(position, may_be_any=may_be_any)}",
            both_ends=f"{start} {end}",
            whole=self._whole("node", [_User(index, 0)], index if may_be_any else None),
        )
        return StepViews(legacy=legacy, view=view)

    def _views_of_transparent_node(self, index: int) -> StepViews:
        """Return the views of a Constant or an Identity: by its users, and its number among all.

        Two nodes may have the same users, through an Identity.
        """
        operator, position, number = self._operators[index], self._nodes.positions[index], self._nodes.numbers[index]
        start = self._from_start(index, number)
        legacy = LegacyView(
            from_start=start, from_end=self._from_end(index, number), by_operators=self._by_operators(index)
        )
        users = [user for users in self._nodes.users_of_outputs(index) for user in users]
        by_users = self._view_by_users(operator, users)
        if operator == "Constant" and users:
            return StepViews(legacy=legacy, view=by_users)
        count = self._operators.count(operator)
        start_with_all = f"{start} {self._counted.before(position)}"
        view = View(
            before=f"{operator} {number} of {count} {start_with_all}",
            after=f"{by_users.after} {count - number} from the end",
            both_ends=f"{start_with_all} {by_users.both_ends}",
            whole=self._whole(f"{operator} {number} of {count}", [], None),
        )
        return StepViews(legacy=legacy, view=view)

    def _from_start(self, index: int, number: int | None = None) -> str:
        """Return `LegacyView.from_start`.

        `number`: that of a transparent node among those of its operator, since others have the same position.
        """
        sources = [source.position for source in self._nodes.sources_of_inputs(index)]
        return _node_text(self._operators[index], self._nodes.positions[index], number, sources)

    def _from_end(self, index: int, number: int | None = None) -> str:
        """Return `LegacyView.from_end`. `number`: see `_from_start`."""
        users = [self._users_from_end(users) for users in self._nodes.users_of_outputs(index)]
        return _node_text(self._operators[index], self._from_end_of(self._nodes.positions[index]), number, users)

    def _by_operators(self, index: int) -> str:
        """Return `LegacyView.by_operators`."""
        sources = [source.number for source in self._nodes.sources_of_inputs(index)]
        users = [self._users_by_number(users) for users in self._nodes.users_of_outputs(index)]
        return f"{self._operators[index]} {self._nodes.numbers[index]} {stable_repr(sources)} {stable_repr(users)}"

    def _view_by_users(self, label: str, users: Sequence[_User]) -> View:
        """Return the view of a value: by its users. `label`: what else describes it."""
        start = f"{label} {stable_repr(self._users_from_start(users, 0))}"
        at_end = stable_repr(self._users_from_end(users))
        positions = [self._nodes.position_of_user(user) for user in users if user.node is not None]
        return View(
            before=f"{start} {stable_repr([self._counted.before(each) for each in positions])}",
            after=f"{label} {at_end} {stable_repr([self._counted.after(each) for each in positions])}",
            both_ends=f"{start} {at_end}",
            whole=self._whole(label, users, None),
        )

    def _whole(self, label: str, users: Sequence[_User], at_fault: int | None) -> tuple[str, ...]:
        """Return `View.whole`. `at_fault`: the index of the node whose operator is wrong."""
        position = None
        if at_fault is not None:
            position = self._nodes.positions[at_fault]
            label = f"{label} {self._nodes.transparent_before(at_fault)}"
        texts = []
        for omitted in TOLERATED_ADDITIONS:
            at = stable_repr(self._users_from_start(users, omitted.first))
            doubt = " in doubt" if self._counted.is_ambiguous(omitted, position) else ""
            texts.append(f"{label} {at} {self._counted.whole(omitted)}{doubt}")
        return tuple(texts)

    def _users_from_start(self, users: Iterable[_User], first: int) -> list[str]:
        """Return the users with their positions, counted from the node at position `first`."""
        return [self._user_text(user, self._nodes.position_of_user(user) - first) for user in users]

    def _users_from_end(self, users: Iterable[_User]) -> list[str]:
        """Return the users with their positions, counted from the end."""
        return [self._user_text(user, self._from_end_of(self._nodes.position_of_user(user))) for user in users]

    def _users_by_number(self, users: Iterable[_User]) -> list[str]:
        """Return the users with their numbers among the nodes of their operator."""
        return [self._user_text(user, self._nodes.number_of_user(user)) for user in users]

    def _from_end_of(self, position: int) -> int:
        return len(self._nodes.counted) - position

    def _user_text(self, user: _User, place: int) -> str:
        """Return the text for a user. `place`: the position or the number of its node."""
        node, operand = user
        return f"output {operand}" if node is None else f"{self._operators[node]} {place} {operand}"

    def views_of_value(self, name: str, index: int) -> StepViews:
        """Return the views of the definition of a value. One that nothing defines has its index in the list."""
        found = self._graph.first_definition(name)
        if found is None:
            return same_view(str(index))
        if found.field == "initializer":
            return self.views_of_initializer(name, found.index)
        if found.node is None:
            text = f"{found.field} {found.index}"
            legacy = LegacyView(from_start=text, from_end=text, by_operators=text)
            return StepViews(legacy=legacy, view=self._views_of_index(found.field, found.index).view)
        return self.views_of_node(found.node.index).within(str(found.index))

    def views_of_initializer(self, name: str, index: int) -> StepViews:
        """Return the views of an initializer by its users. One without users has its index."""
        return self.views_of_users(name) or same_view(f"initializer {index}")

    def views_of_users(self, name: str) -> StepViews | None:
        """Return the views of a stored tensor by its users; None without any."""
        users = self._nodes.users_of_value(name)
        if not users:
            return None
        numbers = f"initializer {stable_repr(self._users_by_number(users))}"
        end = f"initializer {stable_repr(self._users_from_end(users))}"
        legacy = LegacyView(from_start=numbers, from_end=end, by_operators=numbers)
        return StepViews(legacy=legacy, view=self._view_by_users("initializer", users))


def annotated(graph: Graph, index: int) -> str:
    """Return the name of the tensor that a quantization annotation is about."""
    entries = () if graph.is_function else graph.proto.quantization_annotation[index : index + 1]
    return next((str(entry.tensor_name) for entry in entries), "")


def _node_text(operator: str, position: int, number: int | None, neighbours: Sequence[object]) -> str:
    """Return the text for a node. Without `number`, it has two spaces in its place, as in stored baselines."""
    return f"{operator} {position} {'' if number is None else number} {stable_repr(neighbours)}"


def _in_list(field: str, index: int, count: int, elements: OrderedTexts) -> StepViews:
    """Return the views of an input or output of a graph."""
    start, end = f"{field} {index}", f"{field} {index - count} from the end"
    legacy = LegacyView(from_start=start, from_end=end, by_operators=start)
    view = _same_view(f"{start} of {count}")
    if index < count:  # and not an entry that no parser reads
        before, after = f"{start} {elements.before(index)}", f"{end} {elements.after(index)}"
        view = replace(view, before=before, after=after)
    return StepViews(legacy=legacy, view=view)
