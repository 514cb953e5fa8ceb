"""Commands that need no Django."""
