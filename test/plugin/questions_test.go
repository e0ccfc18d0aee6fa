package plugin

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/client"
	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
)

// TestQuestions asks twelve questions of a user who may list some kinds in two namespaces. The files have the
// whole answers: they are true, and have nothing of an object that the user may not list, except its name where an
// object that the user may read names it.
func TestQuestions(t *testing.T) {
	prepareQuestions(t) // the namespaces are deleted after both
	t.Run("answers", answerQuestions)
	t.Run("what selects nothing", selectNothing)
}

func answerQuestions(t *testing.T) {
	since := regexp.MustCompile(`(?m) \d+[smh]\d*[smh]? `)
	s := shellOf(t, "bob")
	for name, args := range map[string][]string{
		"problems":                     {"problems", "--local", "-n", "ask-shop,ask-pay"},
		"problems_everywhere":          {"problems", "--local", "-A"},
		"problems_hidden":              {"problems", "--local", "-n", "ask-hidden"},
		"tree":                         {"tree", "--local", "-n", "ask-shop", "pod/web"},
		"tree_reverse":                 {"tree", "--local", "-n", "ask-pay", "svc/db", "--reverse"},
		"tree_hidden":                  {"tree", "--local", "-n", "ask-shop,ask-pay", "svc/ask-hidden/treasure"},
		"explain_secret":               {"explain", "--local", "-n", "ask-shop", "secret/token"},
		"explain_unused_secret":        {"explain", "--local", "-n", "ask-shop", "secret/unused"},
		"explain_claim":                {"explain", "--local", "-n", "ask-shop", "pvc/data"},
		"impact_secret":                {"impact", "--local", "-n", "ask-shop", "secret/token"},
		"impact_service":               {"impact", "--local", "-n", "ask-pay,ask-shop", "svc/db"},
		"impact_service_one_namespace": {"impact", "--local", "-n", "ask-pay", "svc/db"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := transcript(s.run(t, args...))
			for _, hidden := range []string{"chest", "graphview-manager"} {
				if strings.Contains(text, hidden) {
					t.Errorf("the answer says %q:\n%s", hidden, text)
				}
			}
			golden(t, filepath.Join("questions", name), since.ReplaceAllString(text, " AGE "))
		})
	}
}

// prepareQuestions applies testdata/questions.yaml, whose pods run.
func prepareQuestions(t *testing.T) {
	t.Helper()
	file := filepath.Join("testdata", "questions.yaml")
	fixture.Kubectl(t, cluster, "apply", "-f", file)
	fixture.KubectlAfter(t, cluster, "delete", "-f", file, "--wait=false")
	for namespace, pod := range map[string]string{"ask-shop": "web", "ask-pay": "db", "ask-hidden": "chest"} {
		fixture.Kubectl(t, cluster, "-n", namespace, "patch", "pod", pod, "--subresource=status", "-p",
			`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"a","ready":true,"started":true,"image":"a","imageID":"a","restartCount":0,"state":{"running":{}}}]}}`)
	}
	fixture.Kubectl(t, cluster, "-n", "ask-shop", "wait", "--for=jsonpath={.status.observedGeneration}=1", "deployment/idle", fixture.Timeout())
}

// selectNothing: in a real cluster, an object that selects nothing counts as degraded once it is ten minutes old. No
// object of the cluster itself does. Users that may not list the selected kind in all namespaces are not told.
func selectNothing(t *testing.T) {
	fixture.Apply(t, cluster, `
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: everything, namespace: ask-shop}
spec: {queries: [{include: {resourceSelectorExpression: "resource != 'events'"}}]}
---
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: labelled, namespace: ask-shop}
spec: {queries: [{include: {resourceSelectorExpression: "resource != 'events'", object: {labelSelector: "!no"}}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: viewers, namespace: ask-shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: graphview-viewer}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: bob}]
`)
	fixture.Kubectl(t, cluster, "-n", "ask-shop", "wait", "--for=condition=Ready", "graphview/everything", "graphview/labelled", fixture.Timeout())
	metrics := "Service/ask-shop/metrics selects no Pod: app=webb"
	none := "NetworkPolicy/ask-pay/none selects no Pod: app=none"
	for name, tt := range map[string]struct {
		user, view string
		after      time.Duration
		want       []string
	}{
		"after ten minutes": {"admin", "everything", 11 * time.Minute, []string{none, metrics}},
		"at once":           {"admin", "everything", 0, nil},
		"of some objects":   {"admin", "labelled", 11 * time.Minute, nil},
		// Bob does not see all namespaces of the view, so nothing is known for sure.
		"of two namespaces": {"bob", "everything", 11 * time.Minute, nil},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience.For(within))
			defer cancel()
			config := cluster.Config()
			if tt.user != "admin" {
				config = cluster.ClientConfig(tt.user, "system:authenticated")
			}
			c, err := client.New(config)
			if err != nil {
				t.Fatal(err)
			}
			g, err := c.Summaries(ctx, "ask-shop", tt.view)
			if err != nil {
				t.Fatal(err)
			}
			for _, arc := range g.ArcKeys() {
				if g.Arcs[arc].Absent() && ofCluster(arc.From) {
					t.Errorf("of Kubernetes itself is missing: %s, to which %s refers at %s", arc.To, arc.From, g.Arcs[arc].Fields)
				}
			}
			var got []string
			for _, key := range g.Keys() {
				// Other tests of the package leave objects behind.
				if _, why := g.HealthAt(key, time.Now().Add(tt.after)); strings.HasPrefix(why, "selects") && (strings.HasPrefix(key.Namespace, "ask-") || ofCluster(key)) {
					got = append(got, g.Kind(key)+"/"+key.Namespace+"/"+key.Name+" "+why)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// ofCluster reports whether an object is there in a fresh cluster with an operator.
func ofCluster(k client.Key) bool {
	return strings.HasPrefix(k.Namespace, "kube-") || k.Namespace == "default" ||
		k.Group == "rbac.authorization.k8s.io" && (strings.HasPrefix(k.Name, "system:") || strings.HasPrefix(k.Name, "graphview-"))
}
