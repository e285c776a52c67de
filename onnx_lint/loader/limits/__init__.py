# SPDX-License-Identifier: Apache-2.0
"""Checks that a file stays within the limits, before it is parsed."""
