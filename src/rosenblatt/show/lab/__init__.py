"""lab: the page where a perceptron learns under your hands, and the server behind it."""
