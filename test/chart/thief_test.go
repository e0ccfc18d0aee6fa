package chart

import (
	"slices"
	"strings"
	"testing"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

// The manifests that a thief of the token would apply.
const (
	thiefToken = `{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token,
metadata: {name: neighbour-token, namespace: graphview-system, annotations: {kubernetes.io/service-account.name: neighbour}}}`
	thiefWebhook = `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: thief}}`
	thiefSecret  = `{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token,
metadata: {name: graphview-certificates, namespace: graphview-system, annotations: {kubernetes.io/service-account.name: neighbour}}}`
)

// stolenToken checks what the operator's token alone permits, by requests to the API server.
// docs/security.md lists it.
func (c *cluster) stolenToken(t *testing.T, webhook bool) {
	t.Helper()
	if err := fixture.TryApply(t, c.ControlPlane, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: neighbour, namespace: graphview-system}}`); err != nil {
		t.Fatal(err)
	}
	if err := fixture.TryApply(t, c.ControlPlane, `{apiVersion: v1, kind: Secret, metadata: {name: other, namespace: graphview-system}}`); err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := c.operator.Kubeconfig(t.Context(), "graphview-manager")
	if err != nil {
		t.Fatal(err)
	}
	const own = env.ServiceNamespace
	for name, test := range map[string]struct {
		args []string
		in   string // a manifest
		want bool   // that it succeeds
		says string // what refuses it; empty: the authorizer
	}{
		"content of all Secrets":             {args: []string{"get", "secrets", "-A"}, want: true},
		"rules of its webhook":               {args: []string{"auth", "can-i", "patch", "validatingwebhookconfigurations.admissionregistration.k8s.io/graphview"}, want: webhook},
		"its webhook anew":                   {args: []string{"auth", "can-i", "update", "validatingwebhookconfigurations.admissionregistration.k8s.io/graphview"}},
		"a webhook":                          {args: []string{"create", "--dry-run=server", "-f"}, in: thiefWebhook},
		"a token of another ServiceAccount":  {args: []string{"create", "--dry-run=server", "-f"}, in: thiefToken},
		"a token by request":                 {args: []string{"create", "token", "-n", own, "neighbour"}},
		"another Secret of its namespace":    {args: []string{"auth", "can-i", "update", "secrets/other", "-n", own}},
		"its Secret as a token":              {args: []string{"replace", "--dry-run=server", "-f"}, in: thiefSecret, says: "field is immutable"},
		"another Lease of its namespace":     {args: []string{"auth", "can-i", "update", "leases.coordination.k8s.io/other", "-n", own}, want: true},
		"the Lease of a control plane":       {args: []string{"auth", "can-i", "update", "leases.coordination.k8s.io/kube-controller-manager", "-n", "kube-system"}},
		"a shell":                            {args: []string{"auth", "can-i", "create", "pods/exec", "-n", "shop"}},
		"a kubelet":                          {args: []string{"auth", "can-i", "get", "nodes/proxy"}},
		"somebody else's identity":           {args: []string{"auth", "can-i", "impersonate", "users"}},
		"roles":                              {args: []string{"auth", "can-i", "create", "clusterrolebindings.rbac.authorization.k8s.io"}},
		"its Deployment":                     {args: []string{"auth", "can-i", "patch", "deployments.apps/graphview-manager", "-n", own}},
		"its APIService, of one group alone": {args: []string{"patch", "apiservice", "v1alpha1.stream.graphview.dev", "--type=merge", "--dry-run=server", "-p", `{"spec":{"service":{"name":"thief"}}}`}, want: true},
		"another APIService":                 {args: []string{"patch", "apiservice", "v1.apps", "--type=merge", "--dry-run=server", "-p", `{"spec":{"versionPriority":1}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			args := slices.Concat(test.args, []string{"--kubeconfig=" + kubeconfig})
			if test.in != "" {
				args = slices.Concat(test.args, []string{fixture.Manifest(t, test.in), "--kubeconfig=" + kubeconfig})
			}
			out, err := c.Kubectl(t.Context(), args...)
			if (err == nil) != test.want {
				t.Fatalf("got it: %t\n%s%v", err == nil, out, err)
			}
			// It is refused for this reason, and not for a mistake of the request.
			if test.says == "" {
				test.says = "orbidden"
			}
			if err != nil && !strings.Contains(err.Error(), test.says) && strings.TrimSpace(string(out)) != "no" {
				t.Errorf("%v", err)
			}
		})
	}
}
