"""The rule library: what a message of Flux, Helm, kustomize, Git, a registry or Kubernetes means, and what to do."""
