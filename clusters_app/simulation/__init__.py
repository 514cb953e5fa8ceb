"""Clusters that follow a Git repository as Flux would, served over the Kubernetes API: the demo, load and faults.

What a commit wants comes from the product's own graph; nothing in the product knows that a cluster is simulated.
"""
