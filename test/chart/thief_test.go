package chart

import (
	"context"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// theft is one attempt with the operator's token: a request, or a question to the authorizer.
type theft struct {
	request func(context.Context, client.Client) error
	// ask is a verb, a resource with its group, and perhaps a name and a namespace: VERB RESOURCE[/SUBRESOURCE] NAME NAMESPACE.
	ask  string
	want bool   // that it succeeds
	says string // what refuses it; empty: the authorizer
}

// applied returns a request with a manifest, which the API server does not execute.
func applied(t *testing.T, manifest string, verb func(context.Context, client.Client, client.Object) error) func(context.Context, client.Client) error {
	t.Helper()
	objects, err := env.Objects(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, api client.Client) error { return verb(ctx, api, objects[0]) }
}

func create(ctx context.Context, api client.Client, object client.Object) error {
	return api.Create(ctx, object, client.DryRunAll)
}

func replace(ctx context.Context, api client.Client, object client.Object) error {
	return api.Update(ctx, object, client.DryRunAll)
}

// patched returns a request that changes the spec of an APIService, which the API server does not execute.
func patched(name, spec string) func(context.Context, client.Client) error {
	return func(ctx context.Context, api client.Client) error {
		service := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}}
		service.SetGroupVersionKind(installed[0])
		return api.Patch(ctx, service, client.RawPatch(types.MergePatchType, []byte(`{"spec":`+spec+`}`)), client.DryRunAll)
	}
}

// stolenToken checks the rights of the operator's token alone, by requests to the API server.
// docs/security.md lists it.
func (c *cluster) stolenToken(t *testing.T, webhook bool) {
	t.Helper()
	const own = env.ServiceNamespace
	fixture.Apply(t, c.ControlPlane, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: neighbour, namespace: graphview-system}}`)
	fixture.Apply(t, c.ControlPlane, `{apiVersion: v1, kind: Secret, metadata: {name: other, namespace: graphview-system}}`)
	stolen, err := c.ServiceAccountConfig(t.Context(), own, "graphview-manager")
	if err != nil {
		t.Fatal(err)
	}
	api := fixture.Client(t, stolen)
	for name, test := range map[string]theft{
		"content of all Secrets":            {request: func(ctx context.Context, api client.Client) error { return api.List(ctx, &corev1.SecretList{}) }, want: true},
		"rules of its webhook":              {ask: "patch validatingwebhookconfigurations.admissionregistration.k8s.io graphview", want: webhook},
		"its webhook anew":                  {ask: "update validatingwebhookconfigurations.admissionregistration.k8s.io graphview"},
		"a webhook":                         {request: applied(t, thiefWebhook, create)},
		"a token of another ServiceAccount": {request: applied(t, thiefToken, create)},
		"a token by request": {request: func(ctx context.Context, api client.Client) error {
			neighbour := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: own, Name: "neighbour"}}
			return api.SubResource("token").Create(ctx, neighbour, &authenticationv1.TokenRequest{})
		}},
		"another Secret of its namespace":    {ask: "update secrets other " + own},
		"its Secret as a token":              {request: applied(t, thiefSecret, replace), says: "field is immutable"},
		"another Lease of its namespace":     {ask: "update leases.coordination.k8s.io other " + own, want: true},
		"the Lease of a control plane":       {ask: "update leases.coordination.k8s.io kube-controller-manager kube-system"},
		"a shell":                            {ask: "create pods/exec * shop"},
		"a kubelet":                          {ask: "get nodes/proxy"},
		"somebody else's identity":           {ask: "impersonate users"},
		"roles":                              {ask: "create clusterrolebindings.rbac.authorization.k8s.io"},
		"its Deployment":                     {ask: "patch deployments.apps graphview-manager " + own},
		"its APIService, of one group alone": {request: patched("v1alpha1.stream.graphview.dev", `{"service":{"name":"thief"}}`), want: true},
		"another APIService":                 {request: patched("v1.apps", `{"versionPriority":1}`)},
	} {
		t.Run(name, func(t *testing.T) {
			if test.request == nil {
				if got := may(t, api, test.ask); got != test.want {
					t.Errorf("may %s: %t", test.ask, got)
				}
				return
			}
			err := test.request(t.Context(), api)
			if (err == nil) != test.want {
				t.Fatalf("got it: %t: %v", err == nil, err)
			}
			// It is refused for this reason, and not for a mistake of the request.
			if err != nil && (test.says == "" && !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), test.says)) {
				t.Error(err)
			}
		})
	}
}
