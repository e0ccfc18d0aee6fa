package refs

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"graphview.dev/graphview/graph"
)

// TestExamine: the error for a malformed selector has its field, and no values. The other
// references of the object are found.
func TestExamine(t *testing.T) {
	monitor := graph.Kind{Group: "monitoring.coreos.com", Kind: "ServiceMonitor"}
	policy := graph.Kind{Group: "networking.k8s.io", Kind: "NetworkPolicy"}
	for name, test := range map[string]struct {
		kind   graph.Kind
		object string
		want   string // a part of the fault
		found  int
	}{
		"Good":         {kind: monitor, object: `spec: {selector: {matchLabels: {app: web}}}`, found: 1},
		"Operator":     {kind: monitor, object: `spec: {selector: {matchExpressions: [{key: canary, operator: in, values: [canary]}]}}`, want: "spec.selector "},
		"BadValue":     {kind: monitor, object: `spec: {selector: {matchLabels: {app: "canary canary"}}}`, want: "spec.selector "},
		"NoSelector":   {kind: monitor, object: `spec: {selector: canary}`, want: "spec.selector "},
		"RestCounts":   {kind: monitor, object: `spec: {selector: {matchLabels: [canary]}, endpoints: [{basicAuth: {username: {name: web}}}]}`, want: "spec.selector ", found: 1},
		"Namespaces":   {kind: monitor, object: `spec: {selector: {}, namespaceSelector: {matchNames: canary}}`, want: "beside spec.selector "},
		"Peer":         {kind: policy, object: `spec: {podSelector: {}, ingress: [{from: [{podSelector: {}, namespaceSelector: {matchExpressions: [{key: "-", operator: Exists}]}}]}]}`, want: "spec.ingress[].from[].podSelector ", found: 1},
		"Null":         {kind: policy, object: `spec: {podSelector: null}`},
		"OtherKind":    {kind: graph.Kind{Kind: "ConfigMap"}, object: `spec: {selector: canary}`},
		"NotToBeRead":  {kind: graph.Kind{Group: "cert-manager.io", Kind: "Certificate"}, object: `spec: {selector: canary}`},
		"OtherVersion": {kind: graph.Kind{Group: "apps", Kind: "Deployment"}, object: `spec: {selector: canary}`},
	} {
		t.Run(name, func(t *testing.T) {
			var object map[string]any
			if err := yaml.Unmarshal([]byte(test.object), &object); err != nil {
				t.Fatal(err)
			}
			object["metadata"] = map[string]any{"namespace": "shop"}
			found, err := Builtin().Examine(test.kind, object)
			if len(found) != test.found {
				t.Errorf("references %v, want %d", render(found), test.found)
			}
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("fault %v, want one with %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("the fault says what is in the object: %v", err)
			}
		})
	}
}
