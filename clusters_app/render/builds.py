"""Directories of a tree, rendered: each content once, a few at a time."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from clusters_app.ingest import JsonValue
from clusters_app.repo.build import Builder
from clusters_app.repo.tree import Tree
from clusters_app.safe_yaml import load_repository, to_plain

from . import kustomize
from .errors import RenderError
from .kustomize import Limits
from .sources import Sources, contents, sources
from .substitute import substitute_documents

CACHE_BYTES = 64 * 1024 * 1024
AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class Rendered:
    """The text that kustomize gives, with variables put in. Equal `key`: equal before the variables."""

    text: str
    key: str

    @property
    def documents(self) -> tuple[dict[str, JsonValue], ...]:
        """The objects as plain values, parsed anew at each call."""
        values = (to_plain(each.root) for each in load_repository(self.text.encode()).documents if each.root)
        return tuple(value for value in values if isinstance(value, dict))


class _Cache:
    """Texts by the key of their sources, the longest unused dropped first. Shared by the threads of one process."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> str | None:
        with self._lock:
            if key in self._texts:
                self._texts.move_to_end(key)
            return self._texts.get(key)

    def put(self, key: str, text: str) -> None:
        with self._lock:
            self._bytes += len(text) - len(self._texts.pop(key, ""))
            self._texts[key] = text
            while self._bytes > self._most_bytes:
                self._bytes -= len(self._texts.popitem(last=False)[1])


_cache = _Cache(CACHE_BYTES)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A build that can start: its files, or the text that is `known` already."""

    sources: Sources
    known: str | None
    files: Mapping[str, bytes]


class Renderer:
    """Renders directories of one tree. `left_out` says which paths Flux would not fetch (`repo.sourceignore`)."""

    def __init__(
        self, tree: Tree, *, left_out: Callable[[str], bool] = lambda _: False, limits: Limits | None = None
    ) -> None:
        self._builder = Builder(tree, left_out=left_out)
        self._limits = limits or Limits()

    def render(
        self, path: str, substitute: Mapping[str, str] | None = None, *, strict: bool = False, always: bool = False
    ) -> Rendered:
        """One directory, as Flux builds it; then its variables. A tenth of a second, or nothing when it is known.

        `substitute` None leaves every `${…}` as it is. Raises RenderError; nothing of a file but its path, line and
        references is in the error.
        """
        rendered = _build(self._prepared(path), self._limits)
        if substitute is None:
            return rendered
        text = substitute_documents(rendered.text, substitute, strict=strict, always=always)
        return Rendered(text, rendered.key)

    def render_all(self, paths: Iterable[str]) -> dict[str, Rendered | RenderError]:
        """Many directories without variables, each with its result or its error."""
        with ThreadPoolExecutor(AT_ONCE) as workers:
            started = {
                path: workers.submit(_outcome, self._prepared_or_error(path), self._limits) for path in set(paths)
            }
            return {path: started[path].result() for path in sorted(started)}

    def _prepared(self, path: str) -> _Prepared:
        """Read in the caller's thread: neither a builder nor a Git tree may be used by two."""
        found = sources(self._builder, path)
        known = _cache.get(found.key)
        return _Prepared(found, known, {} if known is not None else contents(self._builder, found))

    def _prepared_or_error(self, path: str) -> _Prepared | RenderError:
        try:
            return self._prepared(path)
        except RenderError as error:
            return error


def _outcome(prepared: _Prepared | RenderError, limits: Limits) -> Rendered | RenderError:
    if isinstance(prepared, RenderError):
        return prepared
    try:
        return _build(prepared, limits)
    except RenderError as error:
        return error


def _build(prepared: _Prepared, limits: Limits) -> Rendered:
    text = prepared.known
    if text is None:
        text = kustomize.run(prepared.files, prepared.sources.directory, limits)
        _cache.put(prepared.sources.key, text)
    return Rendered(text, prepared.sources.key)


def render(tree: Tree, path: str, substitute: Mapping[str, str] | None = None, *, strict: bool = False) -> Rendered:
    """One directory of a tree, once. For several of one tree use a `Renderer`, which lists the tree only once."""
    return Renderer(tree).render(path, substitute, strict=strict)
