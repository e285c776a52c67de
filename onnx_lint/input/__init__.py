# SPDX-License-Identifier: Apache-2.0
"""Locations, globs, sources of bytes, and the limits on what is read from them."""
