# SPDX-License-Identifier: Apache-2.0
"""Pictures of the terminal: what a user sees of the program, recorded at a pseudo-terminal.

`python docs/generate/captures.py` writes them to `docs/captures`.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

from rich.color import Color
from rich.console import Console
from rich.text import Text

DOCS: Final = Path(__file__).parent.parent
CAPTURES: Final = DOCS / "captures"
COLUMNS: Final = 100

_MODEL: Final = """
ir_version: 10
producer_name: "an exporter"
opset_import { domain: "" version: 21 }
opset_import { domain: "com.example" version: 1 }
graph {
  name: "classifier"
  node { name: "embed" op_type: "Gather" input: "table" input: "tokens" output: "embedded" }
  node { name: "project" op_type: "MatMul" input: "embeded" input: "weight" output: "hidden" }
  node { name: "norm" op_type: "FastNorm" domain: "com.example" input: "hidden" output: "/norm/out_0" }
  node { name: "act" op_type: "Gelu" input: "/norm/out_0" output: "logits" attribute { name: "approx" type: INT i: 1 } }
  input { name: "tokens" type { tensor_type { elem_type: 7 shape { dim { dim_param: "length" } } } } }
  input { name: "table" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } dim { dim_value: 2 } } } } }
  initializer { name: "weight" data_type: 1 dims: [2, 2] raw_data: "0123456789abcde" }
  output { name: "logits" type { tensor_type { elem_type: 1 shape { dim { dim_param: "length" } dim {} } } } }
}
"""

_BAR: Final = """
import os, time
from onnx_lint.cli.progress import ProgressBar
with ProgressBar(2430, wanted=True) as bar:
    for _ in range(803):
        bar.advance("models/vision/mobilenet_v2.onnx")
    while bar._bar is None:
        time.sleep(0.01)
    with bar._lock:
        bar._bar.refresh()
        os._exit(0)
"""
"""Stops in the middle of a run, so that the bar stays."""


@dataclass(frozen=True)
class Capture:
    """A picture, and the command that it shows."""

    name: str
    command: str
    """The command that is shown after the prompt."""
    arguments: tuple[str, ...]
    """The arguments that this interpreter really runs."""
    columns: int = COLUMNS


def _program(name: str, command: str, columns: int = COLUMNS) -> Capture:
    return Capture(name, command, ("-m", "onnx_lint", *command.split()[1:]), columns)


CAPTURED: Final = (
    # On a busy machine the run takes longer than a second, and would have a progress bar.
    Capture("report", "onnx-lint classifier.onnx", ("-m", "onnx_lint", "check", "--no-progress", "classifier.onnx")),
    _program("explain", "onnx-lint explain undefined-name"),
    _program("help", "onnx-lint check --help"),
    Capture("progress", "onnx-lint models/ --jobs 0", ("-c", _BAR)),
)


def record(capture: Capture) -> list[Text]:
    """The lines that stand on the terminal after the command, wrapped as a terminal wraps."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "classifier.onnx").write_bytes(_binary(_MODEL))
        output = _run(capture, folder)
    # What stands before the last carriage return of a line is written over.
    lines = (re.sub(r".*\r(?=[^\r])", "", line.rstrip("\r")) for line in output.decode().split("\n"))
    texts = [Text("$ ", "bold").append(capture.command), *map(Text.from_ansi, lines)]
    while not texts[-1].plain.strip():
        texts.pop()
    return [part for text in texts for part in text.divide(range(COLUMNS, len(text), COLUMNS)) or [Text()]]


def _binary(text: str) -> bytes:
    from onnx_lint.input.source import BytesSource
    from onnx_lint.loader import load

    data: bytes = load(BytesSource(text.encode())).proto.SerializeToString(deterministic=True)
    return data


def _run(capture: Capture, folder: str) -> bytes:
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, capture.columns, 0, 0))
    unwanted = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "ONNX_LINT_FORMAT", "ONNX_LINT_DOCUMENTATION_URL"}
    environment = {name: value for name, value in os.environ.items() if name not in unwanted}
    environment |= {"PYTHONPATH": str(DOCS.parent), "TERM": "xterm-256color", "COLORTERM": ""}
    with subprocess.Popen(
        [sys.executable, *capture.arguments], cwd=folder, env=environment, stdin=child, stdout=child, stderr=child
    ):
        os.close(child)
        output = b"".join(_read(parent))
    os.close(parent)
    return output


def _read(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # Linux says so when the other side is closed
            return
        if not data:
            return
        yield data


# --- the picture

_FONTS: Final = "ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace"
_FONT_SIZE: Final = 14
_CHARACTER: Final = 8.4
_LINE: Final = 19
_MARGIN: Final = 14
_COLORS: Final = {
    1: "#f2777a", 2: "#99cc99", 3: "#ffcc66", 4: "#6699cc", 5: "#cc99cc", 6: "#66cccc", 7: "#d3d0c8", 8: "#8a8680",
    9: "#f2777a", 10: "#99cc99", 11: "#ffcc66", 12: "#6699cc", 13: "#cc99cc", 14: "#66cccc", 15: "#f2f0ec",
}  # fmt: skip
_PLAIN: Final = "#d3d0c8"


def svg(lines: list[Text], title: str) -> str:
    """The lines as a picture, a text element a line; it refers to nothing outside."""
    width = round(2 * _MARGIN + COLUMNS * _CHARACTER)
    height = 2 * _MARGIN + len(lines) * _LINE
    rows = (_row(line, _MARGIN + index * _LINE + _FONT_SIZE) for index, line in enumerate(lines))
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
            f' font-family="{_FONTS}" font-size="{_FONT_SIZE}" fill="{_PLAIN}">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{width}" height="{height}" rx="8" fill="#222226"/>',
            *rows,
            "</svg>\n",
        )
    )


def _row(line: Text, y: int) -> str:
    spans = "".join(_span(part) for part in line.divide(sorted({edge for span in line.spans for edge in span[:2]})))
    length = f' textLength="{len(line) * _CHARACTER:.1f}"' if len(line) else ""
    return f'<text x="{_MARGIN}" y="{y}"{length} xml:space="preserve">{spans}</text>'


def _span(part: Text) -> str:
    if not part.plain:
        return ""
    style = part.get_style_at_offset(Console(), 0)
    color = style.color
    marks = f' fill="{_fill(color)}"' if color is not None and not color.is_default else ""
    marks += ' font-weight="bold"' if style.bold else ""
    # Not every viewer keeps ordinary blanks.
    shown = escape(part.plain).replace(" ", "\N{NO-BREAK SPACE}")
    return f"<tspan{marks}>{shown}</tspan>" if marks else shown


def _fill(color: Color) -> str:
    found = _COLORS.get(color.number) if color.number is not None else None
    return found or color.get_truecolor().hex


def main() -> None:
    """Record everything anew."""
    CAPTURES.mkdir(exist_ok=True)
    for capture in CAPTURED:
        (CAPTURES / f"{capture.name}.svg").write_text(svg(record(capture), capture.command), encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(DOCS.parent))
    main()
