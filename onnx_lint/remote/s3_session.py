# SPDX-License-Identifier: Apache-2.0
"""The HTTP session of s3fs. It counts the answers while a listing goes on."""

from __future__ import annotations

from typing import Any

from aiobotocore.httpsession import AIOHTTPSession

from onnx_lint.remote.answers import count_aiohttp_answer


class S3Session(AIOHTTPSession):
    """A session that counts the content of answers."""

    async def send(self, request: Any) -> Any:
        """Return the answer to a request."""
        is_streamed = request.stream_output
        request.stream_output = True  # the session would read the content at once
        try:
            answer = await super().send(request)
        finally:
            request.stream_output = is_streamed
        if not is_streamed:
            count_aiohttp_answer(answer.raw)
            await answer.content
        return answer
