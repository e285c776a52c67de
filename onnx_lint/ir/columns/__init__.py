# SPDX-License-Identifier: Apache-2.0
"""What is told by the bytes of many messages at once."""
