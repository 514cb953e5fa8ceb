"""Promotions: planned, opened as a pull request, merged by a person, followed until live on each cluster."""
