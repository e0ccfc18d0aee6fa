{{/* What a schema cannot refuse. */}}
{{- define "graphview.checked" -}}
{{- if hasPrefix "kube-" .Release.Namespace }}
{{- fail (printf "GraphView is not installed into %s, where the cluster keeps its own: use a namespace of its own, such as graphview-system" .Release.Namespace) }}
{{- end }}
{{- if and .Values.webhook.enabled (eq .Values.webhook.certificates "injected") (eq .Values.certificates.source "operator") }}
{{- fail "webhook.enabled needs somebody who writes its caBundle: certificates.source certManager or secret; or webhook.certificates self-signed, which gives the operator a right that is dangerous to lose (docs/webhook.md)" }}
{{- end }}
{{- if and .Values.webhook.enabled (eq .Values.webhook.certificates "self-signed") (ne .Values.certificates.source "operator") }}
{{- fail "webhook.certificates self-signed is for certificates.source operator; leave it injected where cert-manager or a Secret has the certificate" }}
{{- end }}
{{- if and (not .Values.rbac.secrets) (ne .Values.rbac.read "all") }}
{{- fail "rbac.secrets is for rbac.read all; otherwise leave Secrets out of rbac.resources" }}
{{- end }}
{{- end }}
