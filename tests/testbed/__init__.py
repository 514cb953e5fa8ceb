"""Real servers for tests, the bench and the lab: clusters with Flux, Gitea, a registry, Valkey, PostgreSQL, a browser.

Everything here is a plain class or function that starts something and ends it again; `fixtures` makes them
pytest fixtures. Nothing in this package imports the product, so that it can judge it.
"""
