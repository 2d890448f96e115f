"""Rules in plain Python that only the tests need: the oracle for what the lectures leave out."""
