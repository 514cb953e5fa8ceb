"""One file a page, or a family of small ones."""
