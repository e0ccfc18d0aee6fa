{{/* Who vouches for the certificate, in an APIService or a webhook: nothing is
said here where the operator itself writes it. */}}
{{- define "graphview.trusting" -}}
{{- $object := .object -}}
{{- if eq .root.Values.certificates.source "certManager" -}}
{{- $_ := set $object.metadata "annotations" (dict "cert-manager.io/inject-ca-from" (printf "%s/graphview" .root.Release.Namespace)) -}}
{{- end -}}
{{- toYaml $object -}}
{{- end }}
{{- define "graphview.caBundle" -}}
{{- if eq .Values.certificates.source "secret" }}{{ .Values.certificates.caBundle | b64enc }}{{ end -}}
{{- end }}
