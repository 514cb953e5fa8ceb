"""Messages of the image controllers."""

from __future__ import annotations

from .rule import IMAGE_POLICY, IMAGE_REPOSITORY, _, rule

RULES = (
    rule(
        "invalid-image",
        (
            r"should not include a tag; remove '(?P<tag>[^']+)'",
            r"should not start with URL scheme; remove '(?P<tag>[^']+)'",
            r"could not parse reference",
            r"invalid reference format",
        ),
        _("spec.image is not the name of an image: {first_line}"),
        _("Write host/path alone; remove {tag}."),
        link=IMAGE_REPOSITORY,
        kinds={"ImageRepository"},
    ),
    rule(
        "no-tags-in-database",
        (
            r"no tags in database",
            r"no tags found",
        ),
        _(
            "{source} has been scanned, but its tags are not stored (another ImageRepository of the same image may "
            "have overwritten them)."
        ),
        _("Keep one ImageRepository for each image, and let {source} scan again."),
        link=IMAGE_POLICY,
        kinds={"ImagePolicy"},
    ),
    rule(
        "image-policy-no-match",
        (
            r"version list argument cannot be empty",
            r"unable to determine latest version from provided list",
            r"no image found for policy",
            r"no matching tag",
        ),
        _("No tag of {source} is left after the filter and the policy of {me}."),
        _("Compare spec.filterTags.pattern and the policy's range with the tags that exist."),
        "flux get image policy {name} -n {ns}",
        IMAGE_POLICY,
        kinds={"ImagePolicy"},
    ),
    rule(
        "invalid-policy",
        (
            r"invalid policy: (?P<why>[^\n]+)",
            r"improper constraint: (?P<why>\S+)",
        ),
        _("The policy itself is wrong: {why}"),
        _("Correct spec.policy; nothing is tried again before."),
        link=IMAGE_POLICY,
        kinds={"ImagePolicy"},
    ),
)
