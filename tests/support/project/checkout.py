# SPDX-License-Identifier: Apache-2.0
"""Paths of the checkout under test."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent.parent.parent
ROOT = TESTS.parent
