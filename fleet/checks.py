"""Wrong combinations of settings, each with its remedy."""
