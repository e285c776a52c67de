# SPDX-License-Identifier: Apache-2.0
"""The command line. Only the modules that define commands and options import click."""
