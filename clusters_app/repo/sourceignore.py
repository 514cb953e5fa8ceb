"""Which files of a tree are part of what Flux fetches.

source-controller reads every `.sourceignore` of the tree and then `spec.ignore`; its own exclusions (CI files, images,
`.sops.yaml`) hold only while neither has a pattern: https://fluxcd.io/flux/components/source/gitrepositories/#excluding-files.
"""

import re
from collections.abc import Callable, Iterable

import pathspec

from clusters_app.repo.tree import Tree, TreeError

_FLUX_DEFAULTS = """\
.git/
.gitignore
.gitmodules
.gitattributes
*.jpg
*.jpeg
*.gif
*.png
*.wmv
*.flv
*.tar.gz
*.zip
.github/
.circleci/
.travis.yml
.gitlab-ci.yml
appveyor.yml
.drone.yml
cloudbuild.yaml
codeship-services.yml
codeship-steps.yml
**/.goreleaser.yml
**/.goreleaser.brew.yml
**/.sops.yaml
**/.flux.yaml
"""

_ALWAYS = (".git/", ".gitignore", ".gitmodules", ".gitattributes")


def artifact_filter(tree: Tree, ignore: str | None) -> Callable[[str], bool]:
    """Whether a path is left out of the artifact of a source with this `spec.ignore`."""
    own = [*_sourceignore_lines(tree), *_patterns((ignore or "").splitlines())]
    lines = [*_ALWAYS, *own] if own else _FLUX_DEFAULTS.splitlines()
    return pathspec.GitIgnoreSpec.from_lines(lines).match_file


def _sourceignore_lines(tree: Tree) -> list[str]:
    files = [path for path in tree.files() if path.rpartition("/")[2] == ".sourceignore"]
    # Deeper files come later and so win, as with Git's own ignore files.
    return [line for path in sorted(files, key=lambda path: path.count("/")) for line in _lines_of(tree, path)]


def _lines_of(tree: Tree, path: str) -> Iterable[str]:
    try:
        written = tree.read(path).decode("utf-8", "replace")
    except TreeError:
        return []
    directory = path.rpartition("/")[0]
    return [_below(directory, line) for line in _patterns(written.splitlines())]


# Sets inside of sets mean something else to Python; to Git they mean next to nothing.
_NESTED_SET = re.compile(r"\[[^\]]*(\[|--|&&|~~|\|\|)")


def _patterns(lines: Iterable[str]) -> list[str]:
    return [line for line in lines if line.strip() and not line.startswith("#") and not _is_hostile(line)]


def _is_hostile(line: str) -> bool:
    """Whether a pattern could take for ever to match, or is no pattern: then it leaves nothing out."""
    stars = max(segment.replace("**", "*").count("*") for segment in line.split("/"))
    return stars > 3 or len(line) > 1000 or _NESTED_SET.search(line) is not None or not _is_pattern(line)


def _is_pattern(line: str) -> bool:
    try:
        pathspec.GitIgnoreSpec.from_lines([line])
    except (re.error, ValueError):
        return False
    return True


def _below(directory: str, line: str) -> str:
    """A pattern of a nested file, said from the root."""
    if not directory:
        return line
    negated, pattern = line.startswith("!"), line.lstrip("!")
    inner = pattern.rstrip().rstrip("/")
    anchored = pattern.lstrip("/") if "/" in inner else f"**/{pattern}"
    return f"{'!' if negated else ''}/{directory}/{anchored}"
