"""Nodes with the shapes of their inputs, family by family, for the test that holds shape rules against onnx."""
