# SPDX-License-Identifier: Apache-2.0
"""The errors that prevent or end a scan."""

from __future__ import annotations


class FleetError(Exception):
    """A scan that cannot be run, or a folder of reports that cannot be used. The text is the reason."""
