# SPDX-License-Identifier: Apache-2.0
"""The checkout, its fixtures and its rules."""
