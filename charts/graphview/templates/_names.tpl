{{/* Labels of everything in the chart. */}}
{{- define "graphview.labels" -}}
app.kubernetes.io/name: graphview
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with omit .Values.commonLabels "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/version" "app.kubernetes.io/managed-by" "helm.sh/chart" }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Labels that select the operator's pods. They never change: a Deployment's
selector cannot. They are those of config/manager. */}}
{{- define "graphview.selector" -}}
app.kubernetes.io/name: graphview
app.kubernetes.io/component: manager
{{- end }}

{{/* An image by its name in the mirror, if there is one. The first part is a registry if it has a
dot or a port, as in Docker. */}}
{{- define "graphview.mirrored" -}}
{{- $registry := .root.Values.global.imageRegistry -}}
{{- if $registry }}{{ $registry }}/{{ regexReplaceAll "^(localhost|[^/]*[.:][^/]*)/" .repository "" }}{{ else }}{{ .repository }}{{ end -}}
{{- end }}

{{- define "graphview.image" -}}
{{- with .Values.image -}}
{{- $repository := include "graphview.mirrored" (dict "root" $ "repository" .repository) -}}
{{- if .digest -}}{{ $repository }}@{{ .digest }}{{- else -}}{{ $repository }}:{{ .tag | default $.Chart.AppVersion }}{{- end -}}
{{- end -}}
{{- end }}
