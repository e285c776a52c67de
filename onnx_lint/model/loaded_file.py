# SPDX-License-Identifier: Apache-2.0
"""What a file holds as it is loaded, and the places in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Self

from onnx_lint import schema
from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import EMPTY
from onnx_lint.input.limits import DEFAULT_LIMITS, Limits
from onnx_lint.input.source import BytesSource, Source
from onnx_lint.ir.crashes import Crashes
from onnx_lint.ir.documents.kinds import MODEL, OF_MODELS, OPERATOR_SET, describe_kind
from onnx_lint.ir.documents.roots import values
from onnx_lint.ir.fault import Fault, FaultKind
from onnx_lint.ir.payload import Payload
from onnx_lint.ir.places.place import ROOT, Key, Place
from onnx_lint.schema import Proto
from onnx_lint.spec.operators import BUILT_IN, OperatorSchemas
from onnx_lint.spec.releases import NEWEST_IR_VERSION
from onnx_lint.spec.standard import DEFAULT_STANDARD, Standard
from onnx_lint.spec.target import NO_TARGET, Target

if TYPE_CHECKING:
    from onnx_lint.ir.places.byte_ranges import ByteRanges
    from onnx_lint.ir.places.enclosing_names import EnclosingNames, NamesInDocument
    from onnx_lint.ir.tensors.data_folder import DataFolder


class LoadedFile:
    """A model file as it is, or a file of another kind of document."""

    def __init__(
        self,
        proto: Proto | None,
        source: Source,
        *,
        faults: tuple[Fault, ...] = (),
        payloads: Mapping[Key, tuple[Payload, ...]] | None = None,
        form: str = "binary",
        kind: str = MODEL,
        directory: str | None = None,
        trusted_folders: Sequence[str] = (),
        given_folder: DataFolder | None = None,
        standard: Standard = DEFAULT_STANDARD,
        limits: Limits = DEFAULT_LIMITS,
        schemas: OperatorSchemas = BUILT_IN,
        target: Target = NO_TARGET,
        opset_imports: Mapping[str, int] = EMPTY,
    ) -> None:
        self.loaded = proto is not None
        """Whether there is a message; when not, only `faults` tells anything."""
        self.kind = kind
        """The message that the file holds: `ModelProto`, or one of the other documents of the specification."""
        if proto is None:
            proto = (schema.outline if kind == MODEL else schema.message)(kind)()
        self._values: list[tuple[Proto, Place]] | None = None
        self.document: Proto = schema.outlined(proto) if kind == MODEL else proto
        """The message that the file holds, whatever it is; a model in outline."""
        self.proto: Proto = self.document if kind == MODEL else schema.outline(MODEL)()
        """The model in outline: nodes, initializers and value_info are bytes, see onnx_lint.ir.columns.nodes.

        Empty where the file holds something else.
        """
        self.source = source
        self.faults = faults
        self.payloads: Mapping[Key, tuple[Payload, ...]] = payloads or {}
        self.form = form
        """`binary`, `textproto` or `json`."""
        self.directory = directory
        """The folder of the model file, in which external data is looked for; None when it is not to be looked for."""
        self.trusted_folders = trusted_folders
        """The folders into which links to files of external data are followed."""
        self.given_folder = given_folder
        """The files beside the model where these are in no folder of the file system."""
        self.standard = standard
        """The edition and variant of the specification that the model is held against."""
        self.limits = limits
        """How much the model may hold before that is a finding."""
        self.operator_schemas = schemas
        """The operators that are known."""
        self.target = target
        """The consumer that the model is meant for."""
        self.crashes = Crashes()
        """The bugs that were met in what follows from the model."""
        # What a graph or node imports that stands in no model; any other file says itself what it imports.
        self._supposed = opset_imports if kind in OF_MODELS else EMPTY

    def with_faults(self, faults: tuple[Fault, ...]) -> Self:
        """The same file, of which it has turned out that these things are wrong with the bytes."""
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__, faults=faults)
        return made

    @cached_property
    def ir_version(self) -> int:
        """The IR version that the model or operator set states; 0 when it states none, and in another document."""
        return int(self.document.ir_version) if self.kind in {MODEL, OPERATOR_SET} else 0

    @cached_property
    def effective_ir_version(self) -> int:
        """The IR version by which features are judged: the newest where the model states none that is published.

        A missing or unknown version has a finding of its own and must not bring a hundred others with it.
        """
        return self.ir_version if 1 <= self.ir_version <= NEWEST_IR_VERSION else NEWEST_IR_VERSION

    def faults_of(self, kind: FaultKind) -> Iterator[Fault]:
        """The faults of the file of one kind, in file order."""
        return (fault for fault in self.faults if fault.kind is kind)

    def values(self) -> Iterator[tuple[Proto, Place]]:
        """The sequences, maps and optionals of a file that holds a value, each with its place.

        They are kept when somebody went through all of them; whoever wants to know whether there are too many does not.
        """
        if self._values is not None:
            yield from self._values
            return
        found: list[tuple[Proto, Place]] = []
        for item in values(self.document, ROOT):
            found.append(item)
            yield item
        self._values = found

    def maps(self) -> Iterator[tuple[Proto, Place]]:
        """The maps among the values."""
        return ((value, place) for value, place in self.values() if value.DESCRIPTOR.name == "MapProto")

    def sequences(self) -> Iterator[tuple[Proto, Place]]:
        """The sequences among the values, those that hold the values of a map too."""
        return ((value, place) for value, place in self.values() if value.DESCRIPTOR.name == "SequenceProto")

    def describe(self) -> str:
        """The model as messages name it, or the other document that the file holds."""
        return describe_kind(self.kind)

    def enclosing_names(self, place: Place) -> EnclosingNames:
        """The names of what stands around `place` and at it."""
        return self._names_in_document.of(place)

    def messages_on(self, place: Place) -> list[tuple[str, Proto]]:
        """The messages from the document to `place`, as far as they are there: the kind of each, and the message."""
        return self._names_in_document.messages_on(place)

    @cached_property
    def _names_in_document(self) -> NamesInDocument:
        from onnx_lint.ir.places.enclosing_names import NamesInDocument  # late: for findings alone

        return NamesInDocument(self.document)

    @cached_property
    def _byte_ranges(self) -> ByteRanges:
        from onnx_lint.ir.places.byte_ranges import ByteRanges  # as above

        source = self.source if self.form == "binary" else BytesSource(schema.serialized(self.document))
        return ByteRanges(source, self.kind)

    def byte_range(self, place: Place) -> tuple[int, int] | None:
        """The first byte of what stands at `place` and the byte after it; None where it is absent or in text."""
        return self._byte_ranges.byte_range(place) if self.form == "binary" else None

    def extent(self, place: Place) -> tuple[int, int]:
        """The bytes of `place`, or the nearest message around it that is there, in the serialized model."""
        ranges = self._byte_ranges
        return next(found for place in place.ancestors() if (found := ranges.byte_range(place)) is not None)
