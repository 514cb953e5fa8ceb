"""Image references: registry, port, repository, tag and digest of `reg:5000/team/web:1.2@sha256:…`.

The grammar is that of https://github.com/distribution/reference: a colon before the last slash is a port, not a tag.
"""

import re
from dataclasses import dataclass

_DIGEST = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[+._-][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")


@dataclass(frozen=True, slots=True)
class ImageReference:
    """`repository` holds registry and port too; no tag and no digest are None."""

    repository: str
    tag: str | None = None
    digest: str | None = None

    @classmethod
    def parse(cls, text: str) -> "ImageReference | None":
        """None for what is no reference: spaces, variables, templates, an empty part."""
        rest, at, digest = text.partition("@")
        directory, slash, name = rest.rpartition("/")
        name, colon, tag = name.partition(":")
        is_bad = (at and not _DIGEST.fullmatch(digest)) or (colon and not _TAG.fullmatch(tag))
        if is_bad or not name or re.search(r"[\s${}]", rest):
            return None
        return cls(f"{directory}{slash}{name}", tag or None, digest or None)

    @property
    def name(self) -> str:
        """The last segment of the repository."""
        return self.repository.rpartition("/")[2]

    def __str__(self) -> str:
        tag = f":{self.tag}" if self.tag else ""
        return f"{self.repository}{tag}" + (f"@{self.digest}" if self.digest else "")

    def with_version_of(self, other: "ImageReference") -> "ImageReference":
        """This repository with the other's tag and digest."""
        return ImageReference(self.repository, other.tag, other.digest)
