# SPDX-License-Identifier: Apache-2.0
"""Reads the text format of Protocol Buffers and its JSON form."""
