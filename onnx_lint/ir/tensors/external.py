# SPDX-License-Identifier: Apache-2.0
"""External data: the entries of a tensor about the file with its values, and the state of that file.

A location is untrusted text. It is judged as a string first, and looked up only if it stays below the model's folder,
see `data_folder`. No data file is opened here.
"""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Final

from onnx_lint.common.cached import remembered
from onnx_lint.ir.columns.tensor_encodings import element_count
from onnx_lint.ir.parts import Tensor
from onnx_lint.ir.places.place import Place
from onnx_lint.ir.tensors.checksum import Digests
from onnx_lint.ir.tensors.data_folder import DataFolder, ExternalFile, FileState, components
from onnx_lint.ir.tensors.reparsed_tensors import TensorOrigin, tensor_of
from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import ELEMENT_TYPES, EXTERNAL_LOCATION, MAX_INT64, VALUE_FIELDS

IN_MEMORY_MARK: Final = "#"
"""The beginning of an in-memory location of the onnx package. A file may have such a name."""
RUNTIME_ADDRESS: Final = "*/_ORT_MEM_ADDR_/*"
"""The beginning of an in-memory location of ONNX Runtime, which never names a file."""

_MAX_DIGITS: Final = 30
_MAX_COMPONENTS: Final = 4
"""The most components at the end of a location under which its file is looked for beside the model."""

_DRIVE: Final = r"[A-Za-z]:"
_PARENT: Final = r"(?:^|[/\\])\.\.(?:[/\\]|\Z)"
_MAX_CHARACTERS: Final = 32_767
"""The most characters of a path that any system accepts. A hostile file may have a much longer one."""


def _whole_number(value: str | None) -> int | None:
    if not value or len(value) > _MAX_DIGITS or not (value.isascii() and value.isdigit()):
        return None
    number = int(value)
    return number if number <= MAX_INT64 else None


@remembered(1_000)
def location_problem(location: str) -> str | None:
    """Return why the string is not a relative POSIX path, or None; parent directories are judged elsewhere."""
    if len(location) > _MAX_CHARACTERS:
        return f"has {len(location):,} characters, more than any path"
    if "\0" in location:
        return "holds a NUL byte"
    if location.startswith("/"):
        return "is an absolute path"
    if re.match(_DRIVE, location):
        return "begins with a drive letter"
    if "\\" in location:
        return "contains a backslash, which is no separator in a POSIX path"
    if all(part in ("", ".") for part in location.split("/")):
        return "names a directory"
    return None


@remembered(1_000)
def goes_up(location: str) -> bool:
    """Return true if a component of the path, as written, is the parent directory."""
    return ".." in location and re.search(_PARENT, location) is not None


@remembered(1_000)
def spelled_plainly(location: str) -> str:
    """Return the location without `.` and doubled slashes: two spellings of one path give the same result."""
    return ("/" if location.startswith("/") else "") + "/".join(components(location))


def is_safe_location(location: str) -> bool:
    """Return whether a location is a relative path below the model's folder, so that it may be looked up."""
    if not location or location.startswith(RUNTIME_ADDRESS):
        return False
    return location_problem(location) is None and not goes_up(location)


class ExternalData:
    """The external_data entries of one tensor. If a key occurs twice, its first entry counts here.

    A model may have tens of thousands, so the facts that rules need of each are read once. The message is parsed again
    for findings.
    """

    __slots__ = (
        "_digests",
        "_folder",
        "data_location",
        "data_type",
        "keys",
        "length",
        "location",
        "needed_bytes",
        "offset",
        "origin",
        "value_fields",
    )

    def __init__(self, origin: Tensor | TensorOrigin, folder: DataFolder | None, digests: Digests | None) -> None:
        """`folder`, `digests`: shared by the tensors of a model. A thousand of them may be in one file."""
        self.origin = origin
        """The tensor, or the origin to parse it from again."""
        self._folder = folder
        self._digests = digests
        tensor = tensor_of(origin)
        proto = tensor.proto
        entries = [(entry.key, entry.value) for entry in proto.external_data]
        first = dict(reversed(entries))
        self.data_location: int = proto.data_location
        """The number of the enum DataLocation."""
        self.data_type: int = proto.data_type
        """The number of the element type."""
        self.keys = tuple([key for key, _ in entries])
        """The keys of the entries, in the order of the file."""
        self.location = first.get("location") or ""
        """The location as written; empty if there is none."""
        self.offset = _whole_number(first.get("offset"))
        """The offset of the values; None if it is missing or not a whole number that fits 64 bits."""
        self.length = _whole_number(first.get("length"))
        """The number of bytes of the values according to the entries; None as for the offset."""
        needed = _needed_bytes(proto)
        # One object for two equal numbers: a model may have tens of thousands.
        self.needed_bytes = self.length if needed == self.length else needed
        """The number of bytes that the shape and element type require; None if unknown.

        It is unknown for a tensor with a segment: only a part of it is stored, and its length can be read in several
        ways.
        """
        self.value_fields = _value_fields(tensor)
        """The fields of the message that hold values, in addition to the external data."""

    @property
    def tensor(self) -> Tensor:
        """Return the tensor, parsed again if there are many of them."""
        return tensor_of(self.origin)

    @property
    def proto(self) -> Proto:
        """The TensorProto."""
        return self.tensor.proto

    @property
    def is_external(self) -> bool:
        """True if the tensor is marked EXTERNAL."""
        return self.data_location == EXTERNAL_LOCATION

    def get(self, key: str) -> str | None:
        """Return the value of the first entry with this key."""
        if key not in self.keys:
            return None
        value: str = self.proto.external_data[self.keys.index(key)].value
        return value

    def entry_place(self, key: str) -> Place:
        """Return the place of the first entry with this key, or of the tensor if it has none."""
        place = self.tensor.place
        return place.at("external_data", self.keys.index(key)) if key in self.keys else place

    @property
    def is_safe(self) -> bool:
        """True if the location is a relative path below the model's folder, so that it may be looked up."""
        return is_safe_location(self.location)

    @property
    def file(self) -> ExternalFile | None:
        """The data file; None if the location is not safe to look up, or lookups are disabled."""
        if self._folder is None or not self.is_external or not self.is_safe:
            return None
        return self._folder.file(self.location)

    @property
    def can_propose_files(self) -> bool:
        """True if files in the model's folder are looked up, and the model is a file that can be fixed."""
        return self._folder is not None and self._folder.is_local

    @property
    def required_file_size(self) -> int:
        """The number of bytes that the data file must have for this tensor."""
        return (self.offset or 0) + max(self.length or 0, self.needed_bytes or 0)

    def find_moved_file(self) -> str | None:
        """Return where a regular file with all values is instead of at the location; None if it is not known.

        That is the location with slashes for backslashes, or the last components of it below the model's folder. None
        as well if the location is that file, or if the model is remote and cannot be fixed.
        """
        if self._folder is None or not self.can_propose_files:
            return None
        parts = re.split(r"[/\\]", self.location)[-_MAX_COMPONENTS:]
        names = ["/".join(parts[index:]) for index in range(len(parts))]
        for name in (self.with_slashes(), *names):
            if name is None or name == spelled_plainly(self.location) or not is_safe_location(name):
                continue
            file = self._folder.file(name)
            if file.state is FileState.REGULAR and file.size is not None and self.required_file_size <= file.size:
                return name
        return None

    def find_file_of_size(self, size: int, used: Set[str]) -> str | None:
        """Return the one file beside the model that looks like external data and has exactly this size.

        None if there is none, or if there are several. `used`: the names of files of other tensors.
        """
        names = [name for name in self.candidates() if name not in used]
        found = [name for name in names if self._folder is not None and self._folder.file(name).size == size]
        return found[0] if size and len(found) == 1 else None

    def with_slashes(self) -> str | None:
        """Return the location with slashes for backslashes; None if it has none, or is invalid even so."""
        location = self.location.replace("\\", "/")
        is_valid = location_problem(location) is None and not goes_up(location)
        return location if is_valid and location != self.location else None

    def candidates(self) -> list[str]:
        """Return the files in the model's folder itself that look like external data; none if lookups are disabled."""
        return self._folder.data_files() if self._folder is not None and self.can_propose_files else []

    def sha1(self, *, is_asked: bool) -> str | None:
        """Return the SHA-1 digest of the data file in hexadecimal; None if it cannot be read, or is too large.

        `is_asked`: whether the user asks for the digests of large files as well.
        """
        if self._digests is None:
            return None
        return self._digests.digest_of(spelled_plainly(self.location), is_asked=is_asked)

    def describe(self) -> str:
        """Return the name of the tensor in messages."""
        return self.tensor.describe()


def _needed_bytes(proto: Proto) -> int | None:
    if proto.HasField("segment"):
        return None
    element_type = ELEMENT_TYPES.get(proto.data_type)
    elements = element_count(proto.dims) if element_type is not None and element_type.bits else None
    return element_type.bytes_of(elements) if element_type is not None and elements is not None else None


def _value_fields(tensor: Tensor) -> tuple[str, ...]:
    in_file = {payload.field for payload in tensor.payloads}
    return tuple([field for field in VALUE_FIELDS if field in in_file or getattr(tensor.proto, field)])
