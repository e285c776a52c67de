# SPDX-License-Identifier: Apache-2.0
"""Configuration files, and baselines: the findings that are already known.

`discovery` is all that a run without any configuration file needs; it imports the rest when there is one.
"""
