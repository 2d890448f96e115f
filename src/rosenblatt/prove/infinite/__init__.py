"""infinite: how infinite coefficients are found and proven."""
