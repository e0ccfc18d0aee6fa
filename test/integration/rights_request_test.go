package integration

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/coder/websocket"
	rbacv1 "k8s.io/api/rbac/v1"

	"graphview.dev/test/subscriber"
)

// TestRightsOfRequests: a view for one connection holds, for each user, what
// the API server lets that user list and watch, and no more.
func TestRightsOfRequests(t *testing.T) {
	f := newRightsFixture(t)
	c, everything := f.client, "get list watch"
	people := map[string]*person{}
	for _, name := range []string{"viewer", "no-secrets", "one-resource", "nobody", "admin"} {
		people[name] = newPerson(t, f.red, name)
		grant(t, c, people[name], "", rbacv1.PolicyRule{NonResourceURLs: []string{"/graph"}, Verbs: []string{"get"}})
	}
	grant(t, c, people["admin"], "", rule("*", "*"))
	grant(t, c, people["viewer"], f.red, rule(everything, "*"))
	grant(t, c, people["no-secrets"], "", rule(everything,
		"pods", "configmaps", "services", "deployments", "replicasets", "serviceaccounts", "persistentvolumeclaims", "storageclasses"))
	grant(t, c, people["one-resource"], "", rule(everything, "pods"))
	f.rest(t)
	whole := f.whole(t, "named")
	text, err := json.Marshal(map[string]any{
		"queries": []any{map[string]any{"include": map[string]any{
			"resource_selector_expression": f.views["named"].Queries[0].Include.ResourceSelectorExpression,
		}}},
		"namespaces": map[string]any{"names": []string{f.red, f.blue}},
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]string{}
	for name, p := range people {
		t.Run(name, func(t *testing.T) {
			want, _ := newJudge(t, p.certificate).leave(whole, nil)
			if other, ok := seen[len(want.Vertices)]; ok {
				t.Errorf("%s and %s see as much", name, other)
			}
			seen[len(want.Vertices)] = name
			conn, code, err := ownPort(t, f.server, p.certificate).dial(t, "/graph", "gitlab-agent-graph-api")
			if err != nil {
				t.Fatalf("%d: %v", code, err)
			}
			if err := conn.Write(t.Context(), websocket.MessageText, text); err != nil {
				t.Fatal(err)
			}
			got := followStream(t.Context(), subscriber.Socket(t.Context(), conn))
			t.Cleanup(func() { <-got.done })
			eventually(t, 40*time.Second, func() string {
				if diff := got.Differs(want); diff != "" {
					return fmt.Sprintf("%v %s", got.Err(), diff)
				}
				return ""
			})
		})
	}
}
