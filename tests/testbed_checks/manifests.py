"""Small manifests that the checks apply."""

import yaml


def deployment(name: str, *, image: str, namespace: str = "default", deadline_seconds: int = 600) -> str:
    labels = {"app": name}
    return yaml.safe_dump(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {
                "progressDeadlineSeconds": deadline_seconds,
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {"containers": [{"name": "main", "image": image}]},
                },
            },
        }
    )


def job(name: str) -> str:
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example/job:1.0.0"}]}
    return yaml.safe_dump(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"template": {"spec": pod}},
        }
    )


def kustomization(name: str, *, path: str, source_kind: str = "GitRepository", source: str = "flux-system") -> str:
    return yaml.safe_dump(
        {
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
            "kind": "Kustomization",
            "metadata": {"name": name, "namespace": "flux-system"},
            "spec": {
                "interval": "10m",
                "path": path,
                "prune": True,
                "wait": True,
                "timeout": "30s",
                "sourceRef": {"kind": source_kind, "name": source},
            },
        }
    )


READER = """
apiVersion: v1
kind: Namespace
metadata: {name: reading}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: reader, namespace: reading}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules:
  - apiGroups: [""]
    resources: [namespaces]
    verbs: [get, list, watch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects:
  - {kind: ServiceAccount, name: reader, namespace: reading}
"""

CHART = {
    "Chart.yaml": "apiVersion: v2\nname: podinfo\nversion: 1.2.3\nappVersion: 6.0.0\n",
    "values.yaml": "tag: 6.0.0\n",
    "templates/deployment.yaml": """
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec:
      containers:
        - name: main
          image: example/podinfo:{{ .Values.tag }}
""",
}
