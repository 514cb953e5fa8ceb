"""Measurements of the product against the floor: `make bench`."""
