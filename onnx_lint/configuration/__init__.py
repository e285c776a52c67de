# SPDX-License-Identifier: Apache-2.0
"""Configuration files, and baselines of known findings.

A run without a configuration file imports only `discovery`, which imports the rest if there is one.
"""
