package chart

import (
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

// asOperator returns a client of the administrator that impersonates the operator's ServiceAccount.
func asOperator(t *testing.T) client.Client {
	t.Helper()
	config := plane.Config()
	config.Impersonate.UserName = "system:serviceaccount:" + env.ServiceNamespace + ":graphview-manager"
	config.Impersonate.Groups = []string{"system:serviceaccounts", "system:authenticated"}
	return fixture.Client(t, config)
}

// may asks the API server for a right of the client's user, as kubectl auth can-i does: VERB RESOURCE[/SUBRESOURCE] NAME NAMESPACE.
// A missing name, or *, asks for all objects, and a missing namespace for all namespaces.
func may(t *testing.T, api client.Client, question string) bool {
	t.Helper()
	words := append(strings.Fields(question), "", "")
	resource, sub, _ := strings.Cut(words[1], "/")
	asked := &authorizationv1.ResourceAttributes{Verb: words[0], Subresource: sub, Name: strings.Trim(words[2], "*"), Namespace: words[3]}
	asked.Resource, asked.Group, _ = strings.Cut(resource, ".")
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: asked}}
	if err := api.Create(t.Context(), review); err != nil {
		t.Fatal(err)
	}
	return review.Status.Allowed
}
