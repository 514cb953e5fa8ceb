"""The REST API: everything that the pages do, for scripts. The same read models and services as the pages."""
