# SPDX-License-Identifier: Apache-2.0
"""The types of values: type strings, and their inference by operators."""
