"""The kernel perceptron and its budget: the rule where inner products are a function K(x, z)."""
