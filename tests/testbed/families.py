"""What the testbed builds: each family of programs is one Go module under `programs/`, pinned by `go.mod` and `go.sum`.

To add one: a folder with a `go.mod` (`go mod tidy` writes the `go.sum`) and an entry here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Family:
    """Programs that one `go.mod` pins, by the packages that they are built from.

    `shares` maps a folder under `share/` to (module, folder in the module). `stamps` are variables that a release's
    own build sets: the program reports them as its version. `missing` is (module, file): a generated file that the
    published module lacks and its build asks for; an empty one will do.
    """

    name: str
    programs: Mapping[str, str]
    shares: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    stamps: Sequence[str] = ()
    missing: tuple[str, str] | None = None


FLUX_CONTROLLERS = (
    "source-controller",
    "kustomize-controller",
    "helm-controller",
    "notification-controller",
    "image-reflector-controller",
    "image-automation-controller",
)

FAMILIES = (
    Family("etcd", {"etcd": "go.etcd.io/etcd/server/v3"}),
    Family(
        "kubernetes",
        {
            name: f"k8s.io/kubernetes/cmd/{name}"
            for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
        },
        stamps=[
            f"k8s.io/component-base/version.{stamp}" for stamp in ("gitVersion=v1.36.3", "gitMajor=1", "gitMinor=36")
        ],
    ),
    Family(
        "flux",
        {name: f"github.com/fluxcd/{name}" for name in FLUX_CONTROLLERS},
        {f"crds/{name}": (f"github.com/fluxcd/{name}", "config/crd/bases") for name in FLUX_CONTROLLERS},
    ),
    Family(
        "gitea",
        {"gitea": "code.gitea.io/gitea"},
        {name: ("code.gitea.io/gitea", name) for name in ("options", "public", "templates")},
        stamps=["main.Version=1.26.0"],
    ),
    Family("kwok", {"kwok": "sigs.k8s.io/kwok/cmd/kwok"}, {"stages": ("sigs.k8s.io/kwok", "kustomize/stage")}),
    Family("crane", {"crane": "github.com/google/go-containerregistry/cmd/crane"}),
    Family(
        "flux-cli",
        {"flux": "github.com/fluxcd/flux2/v2/cmd/flux"},
        stamps=["main.VERSION=2.9.5"],
        missing=("github.com/fluxcd/flux2/v2", "cmd/flux/manifests/install.yaml"),
    ),
)
