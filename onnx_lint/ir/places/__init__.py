# SPDX-License-Identifier: Apache-2.0
"""Where things stand: in the message, in the bytes of the file, and by the names around them."""
