# SPDX-License-Identifier: Apache-2.0
"""Configuration files: which keys there are, where the files lie, and what they say.

`discovery` is all that a run without any configuration file needs; it imports the rest when there is one.
"""
