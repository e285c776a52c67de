# SPDX-License-Identifier: Apache-2.0
"""The types of values: type strings, their inference by operators, and type conflicts.

A model without faults needs `flow` and its imports, one with control flow also `control_flow`; the modules on conflicts
are imported when there is one.
"""
