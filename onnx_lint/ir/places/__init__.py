# SPDX-License-Identifier: Apache-2.0
"""Places: in the message, in the bytes of the file, and by the names around them."""
