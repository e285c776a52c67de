# SPDX-License-Identifier: Apache-2.0
"""Identifies what a file holds."""
