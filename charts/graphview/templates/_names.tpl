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

{{- define "graphview.image" -}}
{{- with .Values.image -}}
{{- $repository := .repository -}}
{{- with $.Values.global.imageRegistry -}}
{{- /* The first part is a registry if it has a dot or a port, as in Docker. */ -}}
{{- $repository = printf "%s/%s" . (regexReplaceAll "^(localhost|[^/]*[.:][^/]*)/" $repository "") -}}
{{- end -}}
{{- if .digest -}}{{ $repository }}@{{ .digest }}{{- else -}}{{ $repository }}:{{ .tag | default $.Chart.AppVersion }}{{- end -}}
{{- end -}}
{{- end }}
