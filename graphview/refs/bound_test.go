package refs

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/validate/content"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
)

// TestImplausibleNames: what cannot be a name of Kubernetes is no reference.
func TestImplausibleNames(t *testing.T) {
	long := strings.Repeat("a", 254)
	for name, owner := range map[string]map[string]any{
		"name with a slash": {"kind": "Node", "name": "a/b"},
		"name with a space": {"kind": "Node", "name": "a b"},
		"dots":              {"kind": "Node", "name": ".."},
		"wildcard":          {"kind": "Node", "name": "*"},
		"template":          {"kind": "Node", "name": "{{node}}"},
		"variable":          {"kind": "Node", "name": "$NODE"},
		"placeholder":       {"kind": "Node", "name": "<node>"},
		"long name":         {"kind": "Node", "name": long},
		"long kind":         {"kind": long[:64], "name": "a"},
		"kind of words":     {"kind": "a node", "name": "a"},
		"long group":        {"apiVersion": long + "/v1", "kind": "Node", "name": "a"},
		"group of words":    {"apiVersion": "a b/v1", "kind": "Node", "name": "a"},
	} {
		t.Run(name, func(t *testing.T) {
			if owner["apiVersion"] == nil {
				owner["apiVersion"] = "v1"
			}
			object := map[string]any{"metadata": map[string]any{"ownerReferences": []any{owner}}}
			if got := Builtin().Extract(graph.Kind{Kind: "Pod"}, object); len(got) != 0 {
				t.Errorf("%d references", len(got))
			}
		})
	}
	for _, name := range []string{"a", "system:node", "a.b-c", "Odd@Name"} {
		object := map[string]any{"metadata": map[string]any{"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "Node", "name": name}}}}
		if got := Builtin().Extract(graph.Kind{Kind: "Pod"}, object); len(got) != 1 {
			t.Errorf("%s: %d references, want 1", name, len(got))
		}
	}
}

// TestNamesOfRoles compares the names that are read as references to roles with the names that
// the API server accepts for roles.
func TestNamesOfRoles(t *testing.T) {
	names := []string{
		"view", "view only", "na\u00efve", "\u05e9\u05dc\u05d5\u05dd", "\U0001f600", "system:node", "*", "{{role}}", "$ROLE", "a<b", "Odd@Name", "a\nb", "a\x1b[31m",
		strings.Repeat("a", 600), "a/b", "50%", ".", "..", "",
	}
	bindings := map[string][]string{"RoleBinding": {"Role", "ClusterRole"}, "ClusterRoleBinding": {"ClusterRole"}}
	for binding, roles := range bindings {
		for _, role := range roles {
			for _, name := range names {
				object := map[string]any{"metadata": map[string]any{"namespace": "a"}, "roleRef": map[string]any{"apiGroup": rolesGroup, "kind": role, "name": name}}
				want := 0
				if name != "" && len(content.IsPathSegmentName(name)) == 0 {
					want = 1
				}
				if got := Builtin().Extract(graph.Kind{Group: rolesGroup, Kind: binding}, object); len(got) != want {
					t.Errorf("%s to the %s %q: %d references, want %d", binding, role, name, len(got), want)
				}
			}
		}
	}
}

// policyOf is a NetworkPolicy with as many peers, each with so many values.
func policyOf(peers, values int) map[string]any {
	from := make([]any, peers)
	for i := range from {
		in := make([]any, values)
		for j := range in {
			in[j] = fmt.Sprint("v", j)
		}
		from[i] = map[string]any{"podSelector": map[string]any{"matchExpressions": []any{map[string]any{"key": fmt.Sprint("k", i), "operator": "In", "values": in}}}}
	}
	return map[string]any{
		"metadata": map[string]any{"namespace": "a", "name": "b"},
		"spec":     map[string]any{"ingress": []any{map[string]any{"from": from}}},
	}
}

func TestBounds(t *testing.T) {
	policy := graph.Kind{Group: "networking.k8s.io", Kind: "NetworkPolicy"}
	owners := make([]any, MaxReferences+10)
	for i := range owners {
		owners[i] = map[string]any{"apiVersion": "v1", "kind": "Node", "name": fmt.Sprint("n", i)}
	}
	for name, test := range map[string]struct {
		object map[string]any
		want   int
		bound  *budget.Bound // nil for none
	}{
		"references":       {object: map[string]any{"metadata": map[string]any{"ownerReferences": owners}}, want: MaxReferences, bound: budget.ObjectParts},
		"selectors":        {object: policyOf(501, 1), want: 500, bound: budget.ObjectParts},
		"enough selectors": {object: policyOf(500, 1), want: 500},
		"terms":            {object: policyOf(30, 1_000), want: 9, bound: budget.ObjectParts},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Builtin().Examine(policy, test.object)
			exceeded, _ := errors.AsType[*budget.Exceeded](err)
			if len(got) != test.want || (exceeded != nil) != (test.bound != nil) || exceeded != nil && exceeded.Bound != test.bound {
				t.Errorf("%d references, %v", len(got), err)
			}
		})
	}
}

// FuzzCost holds what any object costs against what one may: the references are
// bounded, and so are the steps to them.
func FuzzCost(f *testing.F) {
	x, err := New(append(BuiltinRules(), awkward...)...)
	if err != nil {
		f.Fatal(err)
	}
	kinds := []graph.Kind{{Kind: "Pod"}, {Group: "networking.k8s.io", Kind: "NetworkPolicy"}, {Kind: "ConfigMap"}, odd, {Group: "example.org", Kind: "Unknown"}}
	for _, object := range []map[string]any{policyOf(20, 20), {"metadata": map[string]any{"labels": map[string]any{"a": "b"}}}} {
		text, err := json.Marshal(object)
		if err != nil {
			f.Fatal(err)
		}
		for i := range kinds {
			f.Add(byte(i), text)
		}
	}
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		var object map[string]any
		if json.Unmarshal(data, &object) != nil {
			return
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, _ := x.Examine(kinds[int(which)%len(kinds)], object)
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20+uint64(64*len(data)) || len(got) > MaxReferences {
			t.Errorf("%d bytes took %d KiB for %d references", len(data), allocated>>10, len(got))
		}
	})
}
