"""Kubernetes clusters: how they are reached, read and checked. The only package that knows a Kubernetes client."""
