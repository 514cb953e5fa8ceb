"""The repository as text and trees: layout, graph, edits, scaffolding, lint. Pure: no Django, no network, no clock."""
