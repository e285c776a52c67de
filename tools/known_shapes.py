# SPDX-License-Identifier: Apache-2.0
"""Compares the shapes that onnx-lint infers for real models with those of three other programs.

`python -m tools.known_shapes MODELS...` takes files and folders (searched for .onnx) and prints a Markdown table: for
each folder, or file by itself, how many values the nodes of the main graphs make, and for each program of how many it
knows the rank, how many dimensions are sizes for it, and how many elements of small tensors are integers for it. Below
stands where another program knows more than onnx-lint, and where two contradict each other; `--details FILE` lists each
such value.

What the models declare of outputs and other values is taken away, so that all of it follows from inputs, initializers
and attributes. The programs are `onnx.shape_inference` with data propagation, `symbolic_shape_infer` of ONNX Runtime,
and the package onnx-shape-inference; one that is not installed has no column. One that raises knows nothing of a model.

It needs `pip install onnx onnxruntime sympy onnx-shape-inference`; docs/shapes.md has a table with the versions.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.knowledge import has_known_shape
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load

Dim = int | None
"""A size; None if it is a variable, an expression, or unknown."""


Sizes = tuple[Dim, ...] | None


class Known(Record):
    """The facts that a program infers about a value: the sizes of a tensor of known rank, and its elements."""

    shape: Sizes
    elements: Sizes = None


Facts = Mapping[str, Known]

_MOST_ELEMENTS: Final = 1_024
"""The most elements of a tensor to compare. Elements of larger tensors do not decide shapes."""


# --- the programs


def of_onnx_lint(model: Any) -> Facts:
    """Return the facts that onnx-lint infers. A value without a shape, such as a map, counts as known."""
    loaded = load(BytesSource(model.SerializeToString()))
    found = {}
    for name in loaded.main_graph.positions:
        fact = loaded.value_flow.facts.get(name)
        if fact is None or (fact.shape is None and not has_known_shape(fact)):
            continue
        found[name] = Known(_sizes(fact.shape or ()), _sizes(fact.content) if fact.content is not None else None)
    return found


def of_onnx(model: Any) -> Facts:
    """Return the facts that the inference of onnx, with data propagation, infers. It does not return elements."""
    import onnx

    return _stated(onnx.shape_inference.infer_shapes(model, data_prop=True))


def of_onnxruntime(model: Any) -> Facts:
    """Return the facts that the symbolic inference of ONNX Runtime infers."""
    module = importlib.import_module("onnxruntime.tools.symbolic_shape_infer")
    if (module.get_opset(model) or 0) < _FIRST_OPSET:
        return {}
    inference = module.SymbolicShapeInference(2**31 - 1, True, False, 0)
    inference._preprocess(model)
    while inference.run_:
        inference._infer_impl()
    found = dict(_stated(inference.out_mp_))
    for name, value in inference.sympy_data_.items():
        elements = value if isinstance(value, list) else [value]
        if name in found and len(elements) <= _MOST_ELEMENTS:
            found[name] = Known(found[name].shape, tuple(map(_element, elements)))
    return found


_FIRST_OPSET: Final = 7
"""The first operator set that the inference of ONNX Runtime takes."""


def of_onnx_shape_inference(model: Any) -> Facts:
    """Return the facts that the package onnx-shape-inference infers."""
    onnx_ir = importlib.import_module("onnx_ir")
    module = importlib.import_module("onnx_shape_inference")
    inferred = module.infer_symbolic_shapes(onnx_ir.serde.deserialize_model(model), warn_on_missing=False)
    found = {}
    nodes = list(inferred.graph)
    outputs = [output for node in nodes for output in node.outputs]
    for value in [*inferred.graph.inputs, *inferred.graph.initializers.values(), *outputs]:
        shape = value.shape
        if value.name and shape is not None:
            stated = value.metadata_props.get(module.SYM_DATA_KEY)
            elements = None if stated is None else tuple(map(_element, json.loads(stated)))
            found[value.name] = Known(tuple(dim if isinstance(dim, int) else None for dim in shape), elements)
    return found


PROGRAMS: Final[Mapping[str, tuple[str, Callable[[Any], Facts]]]] = {
    "onnx-lint": ("onnx-lint", of_onnx_lint),
    "onnx": ("onnx", of_onnx),
    "ORT symbolic": ("onnxruntime", of_onnxruntime),
    "onnx-shape-inference": ("onnx-shape-inference", of_onnx_shape_inference),
}
"""For each column the distribution and the function."""


def _stated(model: Any) -> Facts:
    graph = model.graph
    found = {
        each.name: Known(_dims(each.type.tensor_type.shape))
        for each in (*graph.input, *graph.value_info, *graph.output)
        if each.type.HasField("tensor_type") and each.type.tensor_type.HasField("shape")
    }
    return found | {each.name: Known(tuple(each.dims)) for each in graph.initializer}


def _dims(shape: Any) -> tuple[Dim, ...]:
    return tuple(int(dim.dim_value) if dim.HasField("dim_value") else None for dim in shape.dim)


def _sizes(dims: Sequence[object]) -> tuple[Dim, ...]:
    return tuple(dim if isinstance(dim, int) else None for dim in dims)


def _element(value: Any) -> Dim:
    """An integer; None for a variable, an expression or another number."""
    is_integer = isinstance(value, int | np.integer) or getattr(value, "is_Integer", False)
    return int(value) if is_integer else None


# --- the comparison


def stripped(model: Any) -> Any:
    """Return the model without its declarations of node outputs."""
    made = type(model)()
    made.CopyFrom(model)
    del made.graph.value_info[:]
    own = {each.name for each in made.graph.input}
    for each in made.graph.output:
        if each.name not in own:
            for kind in ("tensor_type", "sparse_tensor_type"):
                if each.type.HasField(kind):
                    getattr(each.type, kind).ClearField("shape")
    return made


class Tally:
    """The numbers of one program over the models of a group."""

    def __init__(self) -> None:
        self.ranks = self.sizes = self.elements = self.failed = 0

    def add(self, found: Facts, names: Sequence[str]) -> None:
        """Count the known facts about these values."""
        for name in names:
            known = found.get(name)
            if known is None or known.shape is None:
                continue
            self.ranks += 1
            self.sizes += sum(dim is not None for dim in known.shape)
            self.elements += sum(each is not None for each in known.elements or ())


class Difference(Record):
    """A value that two programs contradict each other about, or that another program knows more of than onnx-lint."""

    kind: str
    """`behind` or `contradiction`."""
    program: str
    model: str
    value: str
    operator: str
    what: str


def differences(model: str, facts: Mapping[str, Facts], makers: Mapping[str, str]) -> Iterator[Difference]:
    """The values where another program infers more than onnx-lint, or contradicts it."""
    own = facts["onnx-lint"]
    for program, theirs in facts.items():
        for name, maker in makers.items():
            one, other = own.get(name, Known(None)), theirs.get(name, Known(None))
            for what, mine, others in (("shape", one.shape, other.shape), ("elements", one.elements, other.elements)):
                kind = _difference(mine, others, elements=what == "elements")
                if kind:
                    yield Difference(kind, program, model, name, maker, f"{what}: onnx-lint {mine}, {program} {others}")


def _difference(mine: Sizes, theirs: Sizes, *, elements: bool) -> str:
    if theirs is None or (elements and all(each is None for each in theirs)):
        return ""
    if mine is None:
        return "behind"
    if len(mine) != len(theirs):
        return "contradiction"
    pairs = list(zip(mine, theirs, strict=True))
    if any(one is not None and other is not None and one != other for one, other in pairs):
        return "contradiction"
    return "behind" if any(one is None and other is not None for one, other in pairs) else ""


def _groups(paths: Sequence[Path]) -> dict[str, list[Path]]:
    """The models by the folder below the one that is given, or by that one; a file that is given by its own name."""
    groups: dict[str, list[Path]] = {}
    for path in paths:
        for file in sorted(path.rglob("*.onnx")) if path.is_dir() else [path]:
            folders = (path.name, *file.relative_to(path).parts[:-1][:1]) if path.is_dir() else (file.stem,)
            groups.setdefault(folders[-1], []).append(file)
    return groups


def _programs() -> dict[str, Callable[[Any], Facts]]:
    found = {}
    for column, (distribution, infer) in PROGRAMS.items():
        try:
            importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            continue
        found[column] = infer
    return found


def compare(paths: Sequence[Path]) -> tuple[list[str], list[Difference]]:
    """The lines of the table, and the differences."""
    import onnx

    programs = _programs()
    lines = [
        f"| models | values | {' | '.join(programs)} |",
        f"|---|--:|{'--:|' * len(programs)}",
    ]
    found: list[Difference] = []
    total = {column: Tally() for column in programs}
    count = 0
    for group, files in _groups(paths).items():
        tallies = {column: Tally() for column in programs}
        values = 0
        for file in files:
            model = stripped(onnx.load(file, load_external_data=False))
            makers = {name: node.op_type for node in model.graph.node for name in node.output if name}
            values += len(makers)
            facts: dict[str, Facts] = {}
            for column, infer in programs.items():
                copied = type(model)()
                copied.CopyFrom(model)
                try:
                    facts[column] = infer(copied)
                except Exception as error:  # whatever it is, the program knows nothing of this model
                    logging.getLogger(__name__).info("%s: %s: %s", file, column, error)
                    facts[column] = {}
                    tallies[column].failed += 1
                    total[column].failed += 1
                for tally in (tallies[column], total[column]):
                    tally.add(facts[column], list(makers))
            found += differences(str(file), facts, makers)
        count += values
        lines.append(_line(f"{group} ({len(files)})", values, tallies))
    lines.append(_line("all", count, total))
    return lines, found


def _line(name: str, values: int, tallies: Mapping[str, Tally]) -> str:
    cells = [
        f"{each.ranks:,} / {each.sizes:,} / {each.elements:,}" + (f" (fails {each.failed})" if each.failed else "")
        for each in tallies.values()
    ]
    return f"| {name} | {values:,} | {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and what differs; 1 where two programs contradict each other or onnx-lint is behind."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--details", type=Path, help="write each difference to this file, one a line as JSON")
    options = parser.parse_args(arguments)
    logging.disable(logging.WARNING)
    lines, found = compare(options.models)
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    counts = Counter((each.kind, each.program, each.operator) for each in found)
    for (kind, program, operator), number in sorted(counts.items(), key=lambda item: -item[1]):
        sys.stdout.write(f"{kind}: {program}, {operator}: {number:,} values\n")
    if options.details is not None:
        records = [{name: getattr(each, name) for name in each.__annotations__} for each in found]
        options.details.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
