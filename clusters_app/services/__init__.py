"""What the product does: plain functions, the only writers. Each takes keywords, owns its transaction and its audit."""
