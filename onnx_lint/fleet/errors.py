# SPDX-License-Identifier: Apache-2.0
"""What keeps a scan from beginning or going on."""

from __future__ import annotations


class FleetError(Exception):
    """A scan that cannot be made, or a folder of reports that cannot be used; the text says why."""
