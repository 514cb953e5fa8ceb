module testbed/flux

go 1.26.0

tool (
	github.com/fluxcd/helm-controller
	github.com/fluxcd/image-automation-controller
	github.com/fluxcd/image-reflector-controller
	github.com/fluxcd/kustomize-controller
	github.com/fluxcd/notification-controller
	github.com/fluxcd/source-controller
)

require (
	github.com/fluxcd/helm-controller v1.6.3
	github.com/fluxcd/helm-controller/api v1.6.3
	github.com/fluxcd/image-automation-controller v1.2.4
	github.com/fluxcd/image-automation-controller/api v1.2.4
	github.com/fluxcd/image-reflector-controller v1.2.4
	github.com/fluxcd/image-reflector-controller/api v1.2.4
	github.com/fluxcd/kustomize-controller v1.9.4
	github.com/fluxcd/kustomize-controller/api v1.9.4
	github.com/fluxcd/notification-controller v1.9.3
	github.com/fluxcd/notification-controller/api v1.9.3
	github.com/fluxcd/source-controller v1.9.4
	github.com/fluxcd/source-controller/api v1.9.4
)

replace (
	github.com/fluxcd/pkg/artifact => github.com/fluxcd/pkg/artifact v0.18.0
	github.com/opencontainers/go-digest => github.com/opencontainers/go-digest v1.0.1-0.20231025023718-d50d2fec9c98
	gopkg.in/yaml.v3 => gopkg.in/yaml.v3 v3.0.1
	sigs.k8s.io/kustomize/api => sigs.k8s.io/kustomize/api v0.21.1
	sigs.k8s.io/kustomize/kyaml => sigs.k8s.io/kustomize/kyaml v0.21.1
)
