# SPDX-License-Identifier: Apache-2.0
"""Reads the binary form of messages."""
