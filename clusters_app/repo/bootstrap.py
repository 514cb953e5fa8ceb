"""The command that makes a cluster follow the repository, as a person has to type it."""

from urllib.parse import urlsplit

from clusters_app.repo.model import ClusterFacts, RepositoryFacts

_TOKENS = {"github": "GITHUB_TOKEN", "gitlab": "GITLAB_TOKEN", "gitea": "GITEA_TOKEN", "forgejo": "GITEA_TOKEN"}


def bootstrap_command(repository: RepositoryFacts, cluster: ClusterFacts) -> str:
    """`flux bootstrap …` for a cluster, in lines that a shell joins. The token is named, never written."""
    token = _TOKENS.get(repository.forge)
    provider = {"forgejo": "gitea"}.get(repository.forge, repository.forge) if token else "git"
    options = _forge_options(repository.url) if token else [f"--url={repository.url}"]
    options += [f"--branch={repository.branch}", f"--path={cluster.path}"]
    if repository.url.startswith(("https://", "http://")):
        options.append("--token-auth")
        token = token or "GIT_PASSWORD"
        if provider == "git":
            options += ["--username=git", *_plain_http(repository.url)]
    first = f"{token}=… flux bootstrap {provider}" if token else f"flux bootstrap {provider}"
    return " \\\n  ".join([first, *options])


def _forge_options(url: str) -> list[str]:
    parts = urlsplit(url)
    owner, _, name = parts.path.strip("/").removesuffix(".git").rpartition("/")
    host = f"{parts.hostname}:{parts.port}" if parts.port and parts.scheme != "ssh" else f"{parts.hostname}"
    return [f"--hostname={host}", f"--owner={owner}", f"--repository={name}"]


def _plain_http(url: str) -> list[str]:
    return ["--allow-insecure-http"] if url.startswith("http://") else []
