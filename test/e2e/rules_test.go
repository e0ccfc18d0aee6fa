package e2e

import (
	"fmt"
	"testing"

	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
)

// A ReferenceRule that is applied, changed, spoilt and deleted shows on streams
// that are open, by both roads, without a reset.
func TestReferenceRules(t *testing.T) {
	namespace := newNamespace(t)
	const spec = `queries: [{include: {resourceSelectorExpression: "group == '' && resource == 'configmaps'"}}]`
	view := in(namespace, spec)
	for _, name := range []string{"first", "second", "third"} {
		apply(t, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: %s}, data: {next: second, last: \"third,gone\"}}", name, namespace))
	}
	declare(t, namespace, "view", view)
	var subscribers []*stream
	for _, r := range roads(t) {
		subscribers = append(subscribers, subscribe(t, r, namespace, "view"))
	}
	fixture.KubectlAfter(t, cluster, "delete", "referencerule", namespace, "--ignore-not-found")
	manifest := func(references string) string {
		return "apiVersion: graphview.dev/v1alpha1\nkind: ReferenceRule\nmetadata: {name: " + namespace + "}\n" +
			"spec: {from: {kind: ConfigMap}, references: [" + references + "]}\n"
	}
	shows := func(what string, arcs int, rules ...oracle.Rule) {
		t.Helper()
		parsed, err := oracle.ParseView([]byte(graphView(t, namespace, "view", view)))
		if err != nil {
			t.Fatal(err)
		}
		parsed.Rules = rules
		eventually(t, func() string {
			want, err := oracle.Build(t.Context(), cluster.Config(), parsed)
			if err != nil {
				return err.Error()
			}
			if len(want.Arcs) != arcs {
				return fmt.Sprintf("%s: the oracle has %d arcs, want %d", what, len(want.Arcs), arcs)
			}
			for _, s := range subscribers {
				if diff := s.Differs(want); diff != "" {
					return what + " (-oracle +subscriber):\n" + diff
				}
			}
			return ""
		})
	}
	inForce := func(what, references string, arcs int) {
		t.Helper()
		apply(t, manifest(references))
		kubectl(t, "wait", "--for=condition=Accepted", "referencerule/"+namespace, fixture.Timeout())
		rule, err := oracle.ParseRule([]byte(manifest(references)))
		if err != nil {
			t.Fatal(err)
		}
		shows(what, arcs, rule)
	}
	const next = "{path: data.next, to: {kind: ConfigMap}}"
	const last = `{expression: "'last' in obj.?data.orValue({}) ? obj.data.last.split(',').map(n, {'group': '', 'kind': 'ConfigMap', 'name': n}) : []", type: t}`
	shows("without a rule", 0)
	// A path makes no arc from an object to itself: second names second.
	inForce("with a path", next, 2)
	inForce("with an expression, too", next+", "+last, 8)
	apply(t, manifest("{path: data..next, to: {kind: ConfigMap}}"))
	kubectl(t, "wait", "--for=condition=Accepted=false", "referencerule/"+namespace, fixture.Timeout())
	shows("spoilt", 0)
	inForce("mended", last, 6)
	kubectl(t, "delete", "referencerule", namespace)
	shows("deleted", 0)
	for _, s := range subscribers {
		for _, m := range s.received() {
			if m.Reset {
				t.Error("the stream began anew")
			}
		}
	}
}
