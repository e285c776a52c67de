# SPDX-License-Identifier: Apache-2.0
"""The wire format, written by hand."""
