# SPDX-License-Identifier: Apache-2.0
"""Facts that are read from the bytes of many messages at once."""
