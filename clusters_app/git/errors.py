"""What can go wrong with a repository, in two kinds: try again later, or tell a person."""


def _(text: str) -> str:
    """Marks a text for the catalogues. Django's own mark would load the settings, which no adapter needs."""
    return text


# Each code: what happened, and what helps. `{name}` are the parameters of the error.
TEXTS: dict[str, tuple[str, str]] = {
    "git.url": (
        _("The repository URL is refused: {reason}."),
        _("Give the URL that `git clone` takes, with https:// or ssh://."),
    ),
    "git.ref": (
        _("“{name}” is not a branch name that Flotilla uses."),
        _("Use letters, digits and . _ / - only, not starting with -."),
    ),
    "git.sha": (
        _("“{name}” is not a full commit id."),
        _("Give the 40 hexadecimal characters."),
    ),
    "git.address-refused": (
        _("{host} is refused: {reason}"),
        _("Let an operator add the network to EGRESS_ALLOW_NETWORKS."),
    ),
    "git.credential": (
        _("The credential does not fit {host}: {reason}."),
        _("Store a token for https, a private key for ssh."),
    ),
    "git.auth": (
        _("{host} does not accept the credential."),
        _("Store a token or key that is valid and belongs to this repository."),
    ),
    "git.forbidden": (
        _("{host} refuses access: {said}"),
        _("Give the credential's owner the right to read and to write branches."),
    ),
    "git.not-found": (
        _("There is no repository at {url}, or the credential may not see it."),
        _("Check the URL and the credential's rights."),
    ),
    "git.moved": (
        _("{host} says that the repository has moved."),
        _("Register the new URL; redirects are not followed."),
    ),
    "git.archived": (
        _("The repository is archived and takes no changes."),
        _("Unarchive it at the forge."),
    ),
    "git.tls": (
        _("The certificate of {host} is not trusted: {said}"),
        _("Store the certificate of the authority that signed it."),
    ),
    "git.host-key": (
        _("The ssh host key of {host} is not the known one."),
        _("Compare the key with the host's and store its known_hosts line."),
    ),
    "git.unreachable": (
        _("{host} cannot be reached: {said}"),
        _("Flotilla tries again by itself."),
    ),
    "git.server": (
        _("{host} answered with a fault: {said}"),
        _("Flotilla tries again by itself."),
    ),
    "git.deadline": (
        _("git did not finish within {seconds} seconds."),
        _("Flotilla tries again by itself."),
    ),
    "git.busy": (
        _("Another git program has used this mirror for {seconds} seconds."),
        _("Flotilla tries again by itself."),
    ),
    "git.disk-full": (
        _("There is no space left for the mirror."),
        _("Free disk space on the worker."),
    ),
    "git.too-large": (
        _("The repository is larger than this worker accepts."),
        _("Raise the limit, or split the repository."),
    ),
    "git.too-much-output": (
        _("git wrote more than {limit} bytes."),
        _("The remote has too many branches, or is not a Git server."),
    ),
    "git.missing-program": (
        _("The git program is not installed."),
        _("Install git 2.38 or newer on the worker."),
    ),
    "git.failed": (
        _("git failed: {said}"),
        _("Flotilla tries again a few times, then shows this."),
    ),
    "git.commit.missing": (
        _("The mirror has no commit {name}."),
        _("Fetch the repository."),
    ),
    "git.branch.missing": (
        _("The mirror has no branch {name}."),
        _("Fetch the repository, or check the branch's name."),
    ),
    "git.commit.path": (
        _("{path} cannot be written: {reason}."),
        _("Choose another path."),
    ),
    "git.commit.empty": (
        _("The change would leave every file as it is."),
        _("There is nothing to do."),
    ),
    "git.conflict": (
        _("The branch conflicts with its base in {paths}."),
        _("Resolve the conflict, or plan again."),
    ),
    "git.push.behind": (
        _("Branch {branch} has moved on the remote."),
        _("Flotilla fetches, plans again and retries."),
    ),
    "git.push.race": (
        _("Somebody pushed to {branch} at the same moment."),
        _("Flotilla fetches and retries."),
    ),
    "git.push.stale": (
        _("Branch {branch} on the remote is not what Flotilla last wrote there."),
        _("Look at the commits that others pushed to it."),
    ),
    "git.push.name-taken": (
        _("Branch {branch} cannot exist beside another branch: {said}"),
        _("Delete or rename the branch that is in the way."),
    ),
    "git.push.protected": (
        _("Branch {branch} is protected: {said}"),
        _("Allow Flotilla's account to push to this branch."),
    ),
    "git.push.hook": (
        _("A hook of the server refused the push to {branch}: {said}"),
        _("Do what the hook asks for."),
    ),
    "git.push.refused": (
        _("The server refused the push to {branch}: {said}"),
        _("Look at the server's answer."),
    ),
}
"""Every code with its text. Translated where it is shown: `gettext(problem).format(**error.parameters)`."""


class GitError(Exception):
    """A repository could not be read or written. `parameters` hold no secret and fill the code's texts."""

    def __init__(self, code: str, **parameters: str | int) -> None:
        problem, remedy = TEXTS[code]
        super().__init__(f"{problem.format(**parameters)} {remedy}")
        self.code = code
        self.parameters = parameters
        self.problem = problem.format(**parameters)
        self.remedy = remedy


class GitTransient(GitError):
    """The same call may succeed later."""


class GitPermanent(GitError):
    """The same call fails until a person, or another plan, changes something."""
