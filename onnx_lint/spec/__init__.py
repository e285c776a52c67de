# SPDX-License-Identifier: Apache-2.0
"""The specification as data: its clauses, editions, releases and operators."""
