"""Repositories: a bare mirror of each, what is read from it, what is committed to it, and how it travels.

The only importer of `git` (GitPython, which starts the program) and `pygit2` (which reads and writes objects).
"""
