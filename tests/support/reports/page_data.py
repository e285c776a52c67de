# SPDX-License-Identifier: Apache-2.0
"""The compressed data of an HTML report."""

from __future__ import annotations

import base64
import re
import zlib


def page_data(page: str) -> list[str]:
    """Return what the scripts of the page unpack, as JSON: first the files and findings, then the parts with bodies."""
    found = re.findall('<script type="text/plain" [^>]*>([^<]*)</script>', page)
    return [zlib.decompress(base64.b64decode(data)).decode() for data in found]
