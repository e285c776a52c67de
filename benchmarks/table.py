# SPDX-License-Identifier: Apache-2.0
"""Formats the measurements as Markdown."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
from collections.abc import Sequence

from measurement import Series

PEERS = ("check_model", "check_model, full", "onnx-doctor", "onnxruntime")
"""The peers in the order of the columns; one that is not installed has no figures."""

HEAD = (
    "| model | onnx-lint | peak | check_model | peak | ratio | full_check | ratio | onnx-doctor | ratio "
    "| session | ratio |\n"
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
)


def versions(pairs: int) -> str:
    """When, where and with what the table was made."""
    packages = ("onnx-lint", "onnx", "onnx-doctor", "onnxruntime", "protobuf", "numpy")
    shown = [f"Python {platform.python_version()}", *(f"{name} {_version(name)}" for name in packages)]
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    today = datetime.datetime.now(datetime.UTC).date()
    return f"{today}; {', '.join(shown)}; {machine}; least processor time of {pairs} rounds."


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"


def row(title: str, series: Sequence[Series], notes: list[str]) -> str:
    """Return a line of the table; add the reasons for missing figures to `notes`."""
    own, *peers = series
    cells = [title]
    for item in series:
        if item.failure is not None:
            notes.append(f"{title}, {item.command.name}: {item.failure}")
    cells += [f"{own.processor_seconds:.2f} s", f"{own.peak:.0f} MB"] if own.failure is None else ["no figure"] * 2
    by_name = {peer.command.name: peer for peer in peers}
    for name in PEERS:
        with_peak = name == PEERS[0]
        peer = by_name.get(name)
        if peer is None or peer.failure is not None:
            cells += ["-"] * (3 if with_peak else 2)
            continue
        ratio = f"**{own.ratio(peer):.2f}**" if own.failure is None else "-"
        cells += [f"{peer.processor_seconds:.2f} s", *([f"{peer.peak:.0f} MB"] if with_peak else []), ratio]
    return f"| {' | '.join(cells)} |"
