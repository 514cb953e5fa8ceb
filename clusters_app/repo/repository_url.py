"""One spelling for all spellings of a repository's URL, shared by registration, graph, webhooks and duplicates check.

A clone URL, an ssh URL, `user@host:path` and the addresses that events carry name one repository in many ways; what
differs between them (user, scheme, ssh port, `.git`, percent signs, capitals, a second host name) is taken away here.
"""

from urllib.parse import SplitResult, unquote, urlsplit

_SAME_HOST = {
    "ssh.github.com": "github.com",
    "www.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
    "ssh.dev.azure.com": "dev.azure.com",
    "vs-ssh.visualstudio.com": "dev.azure.com",
}
_DEFAULT_PORTS = {"https": 443, "http": 80}
_BITBUCKET_SSH_PORT = 7999
_OLD_AZURE = ".visualstudio.com"


def canonical_url(text: str) -> str:
    """`host/path` in small letters, with the port only where HTTP uses an unusual one; `""` for what is no URL.

    Hosts compare names of repositories without regard to case (a plain ssh host does not; two repositories there that
    differ in nothing else would count as one). The forms of Azure DevOps and Bitbucket become their https clone URL.
    """
    parts = _split(text.strip())
    if parts is None:
        return ""
    segments = [unquote(part).casefold() for part in parts.path.split("/") if part]
    if parts.scheme == "file":
        return f"file:///{parts.path.strip('/').removesuffix('.git')}"
    host = parts.hostname or ""
    if not segments or not host:
        return ""
    segments[-1] = segments[-1].removesuffix(".git")
    if host.endswith(_OLD_AZURE) and host not in _SAME_HOST:
        segments = [host.removesuffix(_OLD_AZURE), *segments]
        host = "dev.azure.com"
    host = _SAME_HOST.get(host, host)
    path = _azure(segments) if host == "dev.azure.com" else _bitbucket(segments, parts)
    return "/".join([host + _port(parts), *path])


def same_repository(one: str, other: str) -> bool:
    """Whether two spellings name one repository. What is no URL is the same as nothing."""
    name = canonical_url(one)
    return name != "" and name == canonical_url(other)


def _split(text: str) -> SplitResult | None:
    """The parts of a URL; `user@host:path` is read as ssh. None for everything else."""
    if "://" not in text:
        place, colon, path = text.partition(":")
        if not colon or not path or "/" in place or "@" not in place:
            return None
        text = f"ssh://{place}/{path}"
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme in ("https", "http", "ssh", "git", "file") else None


def _port(parts: SplitResult) -> str:
    """An ssh port says nothing about the repository: the same one is reached over https without it."""
    usual = _DEFAULT_PORTS.get(parts.scheme)
    return "" if usual is None or parts.port in (None, usual) else f":{parts.port}"


def _azure(segments: list[str]) -> list[str]:
    """`organisation/project/_git/repository`. A project's own repository may be written without the project."""
    match [segment for segment in segments if segment != "defaultcollection"]:
        case ["v3", organisation, project, repository] | [organisation, project, "_git", repository]:
            return [organisation, project, "_git", repository]
        case [organisation, "_git", repository]:
            return [organisation, repository, "_git", repository]
    return segments


def _bitbucket(segments: list[str], parts: SplitResult) -> list[str]:
    """Pages and ssh URLs of Bitbucket Data Center as its clone URL, `scm/project/repository`; others as they are."""
    if segments[-1] == "browse":
        segments = segments[:-1]
    match segments:
        case [*context, "projects", project, "repos", repository]:
            return [*context, "scm", project, repository]
        case [*context, "users", user, "repos", repository]:
            return [*context, "scm", f"~{user}", repository]
        case [project, repository] if parts.scheme == "ssh" and parts.port == _BITBUCKET_SSH_PORT:
            return ["scm", project, repository]
    return segments
