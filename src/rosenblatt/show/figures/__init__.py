"""Figures: one picture a file; :mod:`rosenblatt.show.plots` is their front door."""
