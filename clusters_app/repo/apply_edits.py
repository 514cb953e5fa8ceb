"""Value edits applied to the bytes of a file."""

from clusters_app.repo.edit import insert_value, remove_value, set_value
from clusters_app.repo.edit_nodes import EditRefused
from clusters_app.repo.plan_scope import ValueEdit


def apply_edit(data: bytes, edit: ValueEdit) -> bytes:
    """The file after one edit. Raises EditRefused."""
    if edit.kind == "insert":
        return insert_value(data, edit.document, edit.path, edit.content, after=edit.after)
    if edit.kind == "remove":
        return _removed(data, edit)
    return set_value(data, edit.document, edit.path, edit.value, at_anchor=edit.at_anchor)


def _removed(data: bytes, edit: ValueEdit) -> bytes:
    path = edit.path
    while True:
        try:
            return remove_value(data, edit.document, path)
        except EditRefused as error:
            # The only item of a list goes with its list: an empty one would not be what the source has.
            if error.code != "edit.last-child" or len(path) < 2:
                raise
            path = path[:-1]
