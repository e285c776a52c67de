# SPDX-License-Identifier: Apache-2.0
"""Baselines: lists of known findings, so that a run reports only new ones.

A baseline is a JSON file. It identifies a finding by the path of the file, relative to the baseline, and by a
fingerprint of names. An entry has the number of findings that agree in both. A finding with several faults, or with one
inside of a value, is known if the entry lists each of these faults. A finding whose names have changed is known by the
operators around it, and all before or behind. The other fields of an entry are for people who read the file.
"""
