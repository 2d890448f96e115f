"""features: names of features and their columns."""
