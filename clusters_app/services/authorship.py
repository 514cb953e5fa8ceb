"""Who commits: the product writes under its own fixed name, so that the same promotion gives the same commit."""

from clusters_app.git.commits import Author

FLOTILLA = Author("Flotilla", "flotilla@localhost")
