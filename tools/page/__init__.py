# SPDX-License-Identifier: Apache-2.0
"""The page that checks models in a browser, and the program that builds it: `python -m tools.page FOLDER`.

`site` has the files of the page, and `examples` the models that it offers. `docs/browser.md` says how to host it.
"""
