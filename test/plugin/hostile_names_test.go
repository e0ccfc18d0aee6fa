package plugin

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"graphview.dev/test/fixture"
)

// TestHostileNames: a Role whose name clears the terminal, forges lines and turns text around does
// none of it in what a user or an agent reads. Programs get the exact name.
func TestHostileNames(t *testing.T) {
	const hostile = "evil\x1b[2J\nerror: forged\u202e\u2028end"
	const harmless = "evil\uFFFD[2J\uFFFDerror: forged\uFFFD\uFFFDend"
	quoted, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	fixture.Apply(t, cluster, strings.ReplaceAll(`
apiVersion: v1
kind: Namespace
metadata: {name: hostile-names}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: EVIL, namespace: hostile-names}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: binding, namespace: hostile-names}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: EVIL}
subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: EVIL}]
---
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: names, namespace: hostile-names}
spec:
  queries:
  - include:
      resourceSelectorExpression: resource in ['roles', 'rolebindings']
`, "EVIL", string(quoted)))
	s := shellOf(t, "admin")
	s.namespace = "hostile-names"
	check := func(name string, said func() string, wants ...string) {
		t.Run(name, func(t *testing.T) {
			eventually(t, func() string { // the view has to be ready
				text := said()
				for _, want := range wants {
					if !strings.Contains(text, want) {
						return fmt.Sprintf("%q is not in %q", want, text)
					}
				}
				if strings.ContainsAny(text, "\x1b\u202e\u2028") || strings.Contains(text, "\nerror: forged") {
					return fmt.Sprintf("a character of the name is in %q", text)
				}
				return ""
			})
		})
	}
	run := func(args ...string) func() string {
		return func() string {
			stdout, stderr, code := s.run(t, args...)
			return transcript(stdout, stderr, code)
		}
	}
	agent := agentOf(t, "admin")
	tool := func(name, object string) func() string {
		return func() string {
			text, _ := ask(t, agent, name, map[string]any{"namespace": s.namespace, "graph": "names", "object": object})
			return text
		}
	}
	binding, similar := "RoleBinding/binding", "did you mean role/"+harmless+"?"
	check("tree", run("tree", "names"), binding, "Role/"+harmless)
	check("explain", run("explain", "names", binding), "Role/"+harmless, "User/"+harmless)
	check("a similar name", run("tree", "names", "role/evil"), similar, "--- exit code 1")
	check("query", run("query", "--resources", "roles,rolebindings", "-o", "table"), "Role/"+harmless)
	check("impact", run("impact", binding, "--in", "names"), "Deleting "+binding)
	check("an agent's tree", tool("tree", ""), binding, "Role/"+harmless)
	check("an agent's explain", tool("explain", binding), "Role/"+harmless, "User/"+harmless)
	check("an agent's mistake", tool("explain", "role/evil"), similar)
	t.Run("JSON is exact", func(t *testing.T) {
		stdout, stderr, code := s.run(t, "query", "--resources", "roles", "-o", "json")
		var message struct {
			Actions []struct {
				SetVertex *struct {
					Key struct {
						Name string `json:"n"`
					} `json:"vx"`
				} `json:"svx"`
			} `json:"actions"`
		}
		if err := json.Unmarshal([]byte(stdout), &message); err != nil {
			t.Fatalf("exit code %d, %v: %s%s", code, err, stdout, stderr)
		}
		for _, action := range message.Actions {
			if action.SetVertex != nil && action.SetVertex.Key.Name == hostile {
				return
			}
		}
		t.Errorf("the name is not in %s", stdout)
	})
}
