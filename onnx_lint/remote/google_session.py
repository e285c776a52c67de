# SPDX-License-Identifier: Apache-2.0
"""The answers of Google Cloud Storage to gcsfs. They are counted while a listing goes on."""

from __future__ import annotations

import aiohttp

from onnx_lint.remote.answers import count_aiohttp_answer


class GoogleAnswer(aiohttp.ClientResponse):
    """An answer whose content is counted."""

    async def read(self) -> bytes:
        """Return the content."""
        if self._body is None:
            count_aiohttp_answer(self)
        content: bytes = await super().read()
        return content
