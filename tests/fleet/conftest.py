# SPDX-License-Identifier: Apache-2.0
"""The tests of scans need the extra fleet. CI installs it, and runs them then."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("distributed") and find_spec("locket") else ["test_*.py"]
