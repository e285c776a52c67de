# SPDX-License-Identifier: Apache-2.0
"""The types of values: what they are, how they flow through a model, and where they are at odds.

A model without faults needs `flow` and what that imports, one with control flow `control_flow` too; the modules on
conflicts are imported when there is one.
"""
