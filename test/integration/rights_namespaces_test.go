package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/graphview"
	"graphview.dev/stream"
	"graphview.dev/test/oracle"
)

// TestLabelsOfNamespacesStayHidden: a policy that selects pods by the labels of their
// namespaces would reveal these labels. To a user that may not list namespaces, the graph
// looks as if they had no labels.
func TestLabelsOfNamespacesStayHidden(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	red, blue := newNamespace(t, c), newNamespace(t, c)
	label := func(value string) {
		t.Helper()
		if err := c.Patch(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: blue}},
			client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"labels":{"team":%q}}}`, value))); err != nil {
			t.Fatal(err)
		}
	}
	label(red)
	furnish(t, c, blue, newStorageClass(t, c))
	selects := func(key, value string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
	}
	if err := c.Create(t.Context(), &networkingv1.NetworkPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: red, Name: "curious"},
		Spec: networkingv1.NetworkPolicySpec{PodSelector: *selects("app", "none"), Ingress: []networkingv1.NetworkPolicyIngressRule{{
			From: []networkingv1.NetworkPolicyPeer{{PodSelector: selects("app", "web"), NamespaceSelector: selects("team", red)}},
		}}},
	}); err != nil {
		t.Fatal(err)
	}

	include := func(expression string) oracle.Query {
		return oracle.Query{Include: &oracle.Include{ResourceSelectorExpression: expression}}
	}
	rest := []oracle.Query{include("group == '' && resource == 'pods'"), include("group == 'networking.k8s.io' && resource == 'networkpolicies'")}
	named := &oracle.Namespaces{Names: []string{red, blue}}
	f := &rightsFixture{client: c, red: red, blue: blue, engine: runEngine(t, graphview.Options{}), views: map[string]oracle.View{
		"with":    {Queries: append(rest, include("group == '' && resource == 'namespaces'")), Namespaces: named},
		"without": {Queries: rest, Namespaces: named},
	}}
	if err := f.engine.Apply(t.Context(), graphview.Name{Namespace: red, Name: "with"}, "uid-with", specOf(t, f.views["with"])); err != nil {
		t.Fatal(err)
	}
	f.server = startStream(t, c, stream.Of(f.engine))

	follow := func(name string, resources ...string) *graphFollower {
		p := newPerson(t, red, name)
		grant(t, c, p, red, graphRule("get list watch"))
		grant(t, c, p, "", rule("get list watch", resources...))
		return followSocket(t, t.Context(), ownPort(t, f.server, p.token), f.path("watch", "with"))
	}
	knows := follow("knows", "pods", "networkpolicies", "namespaces")
	guesses := follow("guesses", "pods", "networkpolicies")
	tells := func(g oracle.Graph) (arcs int) {
		for key := range g.Arcs {
			if key.From.Resource == "networkpolicies" && key.To.Resource == "pods" {
				arcs++
			}
		}
		return arcs
	}
	for _, value := range []string{red, "other", red} {
		label(value)
		eventually(t, 30*time.Second, func() string {
			all, rest := f.whole(t, "with"), f.whole(t, "without")
			if led := tells(all) > 0; led != (value == red) || tells(rest) > 0 {
				return fmt.Sprintf("labelled %q: %d arcs, %d without namespaces", value, tells(all), tells(rest))
			}
			return strings.TrimSpace(knows.Differs(all) + "\n" + guesses.Differs(rest))
		})
	}
	if n := guesses.Redundant(); n > 0 {
		t.Errorf("who may not know of labels was sent %d elements again", n)
	}
}
