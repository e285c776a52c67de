# SPDX-License-Identifier: Apache-2.0
"""Baselines: lists of known findings, so that a run reports only new ones.

A baseline is a JSON file. It identifies a finding by the path of the file, relative to the baseline, and by a
fingerprint of names. An entry has the number of findings that agree in both. A finding with several faults, or with one
inside of a value, is known if the entry lists each of these faults. A finding whose names have changed is known by the
operators around it, and all before or after. The other fields of an entry are for people who read the file.

| Word | Meaning |
|---|---|
| fault | One wrong place of a finding. An entry lists the faults of its findings. |
| mark | A digest of a place, with the digests of what is wrong there. Two faults are compared by their marks. |
| form | A finding as one version reports it. Older versions had another place or another clause for some findings. |
"""
