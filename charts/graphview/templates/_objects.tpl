{{/* Writes the objects of a file of files/, which are copies of config/, as they
are in this release: its labels, its namespace, its ServiceAccount. Takes
"root", "file" and "skip", a kind. */}}
{{- define "graphview.objects" -}}
{{- $root := .root -}}
{{- $skip := .skip | default "" -}}
{{- range regexSplit "(?m)^---\\s*$" ($root.Files.Get .file) -1 }}
{{- $object := fromYaml . }}
{{- if and $object.kind (ne $object.kind $skip) }}
{{- $object = include "graphview.adapted" (dict "root" $root "object" $object) | fromYaml }}
---
{{ toYaml $object }}
{{- end }}
{{- end }}
{{- end }}

{{- define "graphview.adapted" -}}
{{- $root := .root -}}
{{- $object := .object -}}
{{- $labels := merge (include "graphview.labels" $root | fromYaml) ($object.metadata.labels | default dict) -}}
{{- if not $root.Values.rbac.aggregateToView }}{{ $labels = omit $labels "rbac.authorization.k8s.io/aggregate-to-view" }}{{ end -}}
{{- $_ := set $object.metadata "labels" $labels -}}
{{- if eq ($object.metadata.namespace | default "") "graphview-system" }}{{ $_ := set $object.metadata "namespace" $root.Release.Namespace }}{{ end -}}
{{- range $object.subjects -}}
{{- if eq .kind "ServiceAccount" }}{{ $_ := set . "name" $root.Values.serviceAccount.name }}{{ $_ := set . "namespace" $root.Release.Namespace }}{{ end -}}
{{- end -}}
{{- if and (eq $object.kind "ClusterRole") (eq $object.metadata.name "graphview-manager") -}}
{{- $rules := include "graphview.readRules" $root | fromYamlArray -}}
{{- range $object.rules }}{{ if not (has "*" (.apiGroups | default list)) }}{{ $rules = append $rules . }}{{ end }}{{ end -}}
{{- $_ := set $object "rules" $rules -}}
{{- end -}}
{{- toYaml $object -}}
{{- end }}

{{/* What the operator may read in all of the cluster. */}}
{{- define "graphview.readRules" -}}
{{- if and (eq .Values.rbac.read "all") (not .Values.rbac.secrets) -}}
# As config/components/without-secrets has it.
- apiGroups: [""]
  resources: [configmaps, endpoints, events, limitranges, namespaces, nodes, persistentvolumeclaims, persistentvolumes, pods, podtemplates, replicationcontrollers, resourcequotas, serviceaccounts, services]
  verbs: [list, watch]
- apiGroups: [admissionregistration.k8s.io, apiextensions.k8s.io, apiregistration.k8s.io, apps, autoscaling, batch, certificates.k8s.io, coordination.k8s.io, discovery.k8s.io, events.k8s.io, flowcontrol.apiserver.k8s.io, graphview.dev, networking.k8s.io, node.k8s.io, policy, rbac.authorization.k8s.io, resource.k8s.io, scheduling.k8s.io, storage.k8s.io]
  resources: ["*"]
  verbs: [list, watch]
{{- include "graphview.resourceRules" . }}
{{- else if eq .Values.rbac.read "all" -}}
- apiGroups: ["*"]
  resources: ["*"]
  verbs: [list, watch]
{{- else -}}
# What it cannot do without, or only by polling.
- apiGroups: [graphview.dev]
  resources: [clusterlinks, graphviews, referencerules]
  verbs: [list, watch]
- apiGroups: [""]
  resources: [namespaces, serviceaccounts]
  verbs: [list, watch]
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  verbs: [list, watch]
- apiGroups: [apiregistration.k8s.io]
  resources: [apiservices]
  verbs: [list, watch]
{{- if eq .Values.rbac.read "workloads" }}
- apiGroups: [""]
  resources: [configmaps, persistentvolumeclaims, pods, replicationcontrollers, services]
  verbs: [list, watch]
- apiGroups: [apps]
  resources: [daemonsets, deployments, replicasets, statefulsets]
  verbs: [list, watch]
- apiGroups: [batch]
  resources: [cronjobs, jobs]
  verbs: [list, watch]
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [list, watch]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [list, watch]
- apiGroups: [networking.k8s.io]
  resources: [ingresses, networkpolicies]
  verbs: [list, watch]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [list, watch]
{{- end }}
{{- if has .Values.rbac.read (list "resources" "workloads") }}
{{- include "graphview.resourceRules" . }}
{{- end }}
{{- end -}}
{{- end }}

{{- define "graphview.resourceRules" -}}
{{- range .Values.rbac.resources }}
- apiGroups: {{ toJson .apiGroups }}
  resources: {{ toJson .resources }}
  verbs: [list, watch]
{{- end }}
{{- end }}
