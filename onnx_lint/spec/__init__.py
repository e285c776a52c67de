# SPDX-License-Identifier: Apache-2.0
"""The specification as data: clauses, editions, releases and operator signatures."""
