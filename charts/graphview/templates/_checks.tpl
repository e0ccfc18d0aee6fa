{{/* What a schema cannot refuse. */}}
{{- define "graphview.checked" -}}
{{- if hasPrefix "kube-" .Release.Namespace }}
{{- fail (printf "GraphView is not installed into %s, where the cluster keeps its own: use a namespace of its own, such as graphview-system" .Release.Namespace) }}
{{- end }}
{{- if and .Values.history.enabled .Values.history.volume.enabled .Values.history.volume.claim (gt (int .Values.replicas) 1) }}
{{- fail "history.volume.claim is for one replica, since each has a history of its own: set replicas to 1, or leave the claim out, so that each has an emptyDir" }}
{{- end }}
{{- if and .Values.webhook.enabled (eq .Values.webhook.certificates "injected") (eq .Values.certificates.source "operator") }}
{{- fail "webhook.enabled needs somebody who writes its caBundle: certificates.source certManager or secret; or webhook.certificates self-signed, which gives the operator a right that is dangerous to lose (docs/install.md, The validating webhook)" }}
{{- end }}
{{- if and .Values.webhook.enabled (eq .Values.webhook.certificates "self-signed") (ne .Values.certificates.source "operator") }}
{{- fail "webhook.certificates self-signed is for certificates.source operator; leave it injected where cert-manager or a Secret has the certificate" }}
{{- end }}
{{- if and (or .Values.ingress.enabled .Values.httpRoute.enabled) (not .Values.dashboard.enabled) }}
{{- fail "ingress.enabled and httpRoute.enabled lead to the page: set dashboard.enabled to true" }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}
{{- fail "ingress.enabled needs ingress.host: set it to the host name of the page" }}
{{- end }}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) }}
{{- fail "httpRoute.enabled needs httpRoute.parentRefs: name the Gateway" }}
{{- end }}
{{- with .Values.login }}
{{- if .enabled }}
{{- if not (or $.Values.ingress.enabled (and $.Values.httpRoute.enabled $.Values.httpRoute.hostnames)) }}
{{- fail "login.enabled needs a way to the page: ingress.enabled with ingress.host, or httpRoute.enabled with httpRoute.hostnames" }}
{{- end }}
{{- if not (and .issuerURL .clientID) }}
{{- fail "login.enabled needs login.issuerURL and login.clientID: those that the API server trusts" }}
{{- end }}
{{- if eq $.Values.certificates.source "operator" }}
{{- fail "login.enabled needs a certificate that the proxy can verify: certificates.source certManager, or secret with ca.crt in it" }}
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.fleet }}
{{- if and (or .hub.enabled .member.url) (not .name) }}
{{- fail "fleet.hub.enabled and fleet.member.url need fleet.name: set it to the name of the hub, such as acme, at the hub and at every member" }}
{{- end }}
{{- if and .hub.enabled (gt (int $.Values.replicas) 8) }}
{{- fail "fleet.hub.enabled works with at most 8 replicas, to each of which every member has tunnels: set replicas to less" }}
{{- end }}
{{- if and .hub.certificateSecret (not .hub.enabled) }}
{{- fail "fleet.hub.certificateSecret is for a hub: set fleet.hub.enabled to true, or leave it out" }}
{{- end }}
{{- if and (or .member.caSecret .member.caBundle) (not .member.url) }}
{{- fail "fleet.member.caSecret and fleet.member.caBundle are for a member: set fleet.member.url to the URL of the hub, or leave them out" }}
{{- end }}
{{- if and .member.caSecret .member.caBundle }}
{{- fail "fleet.member.caSecret and fleet.member.caBundle both have the CAs of the hub: leave one of them out" }}
{{- end }}
{{- end }}
{{- if and (eq .Values.rbac.read "namespaces") (not .Values.rbac.namespaces) }}
{{- fail "rbac.read namespaces needs rbac.namespaces: name the namespaces that the operator may read, as in --set rbac.namespaces={shop}" }}
{{- end }}
{{- if and (eq .Values.rbac.read "resources") (not .Values.rbac.resources) }}
{{- fail "rbac.read resources needs rbac.resources: name the API groups and resources that the operator may read" }}
{{- end }}
{{- if and (eq .Values.certificates.source "secret") (not (hasPrefix "-----BEGIN CERTIFICATE-----" .Values.certificates.caBundle)) }}
{{- fail "certificates.source secret needs certificates.caBundle: the PEM of what vouches for the certificate in the Secret" }}
{{- end }}
{{- if and (not .Values.rbac.secrets) (ne .Values.rbac.read "all") }}
{{- fail "rbac.secrets is for rbac.read all; otherwise leave Secrets out of rbac.resources" }}
{{- end }}
{{- /* The appVersion of a release begins with v, and its repository is where it was pushed to. */}}
{{- with .Values.image }}
{{- if and (eq .repository "graphview.dev/manager") (not (or .tag .digest $.Values.global.imageRegistry (hasPrefix "v" $.Chart.AppVersion))) }}
{{- fail "no image is published: set image.repository and image.tag to one that you have built and pushed (docs/install.md, Build an image). To upgrade, give the values of the installation again with -f values.yaml, or keep them with --reset-then-reuse-values" }}
{{- end }}
{{- end }}
{{- end }}
