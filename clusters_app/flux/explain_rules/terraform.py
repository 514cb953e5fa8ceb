"""Messages of tofu-controller."""

from __future__ import annotations

from .rule import _, rule

TERRAFORM = "https://flux-iac.github.io/tofu-controller/"

RULES = (
    rule(
        "terraform-state-locked",
        (
            r"error acquiring the state lock[\s\S]*?ID:\s*(?P<lock>[\w\-]+)",
            r"error acquiring the state lock",
            r"state (?:blob|lock) is already (?:locked|held)",
        ),
        _("Another run holds the lock on the Terraform state (lock {lock}), or was killed while it held it."),
        _("Make sure that no run is left, then release the lock once: tfstate.forceUnlock with that lock's id."),
        "kubectl -n {ns} edit terraforms.infra.contrib.fluxcd.io/{name}",
        f"{TERRAFORM}use-tf-controller/force-unlock-a-terraform-state/",
        {"Terraform"},
    ),
    rule(
        "terraform-provider-missing",
        (
            r"failed to query available provider packages",
            r"could not retrieve the list of available versions for provider (?P<provider>\S+)",
        ),
        _("Terraform cannot download the provider {provider}."),
        _("See whether the runner pod may reach the registry, and whether the provider's name and version are right."),
        "{reconcile}",
        TERRAFORM,
        {"Terraform"},
    ),
)
