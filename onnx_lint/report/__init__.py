# SPDX-License-Identifier: Apache-2.0
"""Findings, the reports on files and the totals of a run, independent of the report format."""

from enum import IntEnum


class Context(IntEnum):
    """What a check collects around findings."""

    NONE = 0
    LINES = 1
    """Lines of the model."""
    NODES = 2
    """Lines, and pictures of the nodes."""
