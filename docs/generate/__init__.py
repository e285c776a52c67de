# SPDX-License-Identifier: Apache-2.0
"""The pages of the documentation that are made from the sources: rules, clauses, options, keys."""
