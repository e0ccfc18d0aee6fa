package delivery

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestSelects: a summary has the selector of its object, and the labels of the pods that the object makes.
func TestSelects(t *testing.T) {
	const web = `"sel":{"g":"","k":"Pod","q":[{"l":"app","o":"In","v":["web"]}]}`
	tests := map[string]struct {
		group, object string
		want          string // "" for none
	}{
		"a Service":                          {object: `{kind: Service, metadata: {namespace: a, name: b}, spec: {selector: {app: web}}}`, want: web},
		"a Service without a selector":       {object: `{kind: Service, metadata: {namespace: a, name: b}, spec: {}}`},
		"an ExternalName":                    {object: `{kind: Service, metadata: {namespace: a, name: b}, spec: {type: ExternalName, selector: {app: web}}}`},
		"a Service of an operator":           {object: `{kind: Service, metadata: {namespace: a, name: b, ownerReferences: [{kind: Cluster, name: c}]}, spec: {selector: {role: replica}}}`},
		"a budget":                           {group: "policy", object: `{kind: PodDisruptionBudget, metadata: {namespace: a, name: b}, spec: {selector: {matchLabels: {app: web}}}}`, want: web},
		"a budget of every pod":              {group: "policy", object: `{kind: PodDisruptionBudget, metadata: {namespace: a, name: b}, spec: {selector: {}}}`},
		"a policy":                           {group: "networking.k8s.io", object: `{kind: NetworkPolicy, metadata: {namespace: a, name: b}, spec: {podSelector: {matchExpressions: [{key: app, operator: In, values: [web]}]}, ingress: [{from: [{podSelector: {matchLabels: {no: "1"}}}]}]}}`, want: web},
		"a policy of every pod":              {group: "networking.k8s.io", object: `{kind: NetworkPolicy, metadata: {namespace: a, name: b}, spec: {podSelector: {}}}`},
		"a selector that cannot be parsed":   {group: "policy", object: `{kind: PodDisruptionBudget, metadata: {namespace: a, name: b}, spec: {selector: {matchExpressions: [{key: app, operator: Like}]}}}`},
		"a ServiceMonitor":                   {group: "monitoring.coreos.com", object: `{kind: ServiceMonitor, metadata: {namespace: a, name: b}, spec: {selector: {matchLabels: {app: web}}}}`, want: strings.Replace(web, "Pod", "Service", 1)},
		"a ServiceMonitor of its namespace":  {group: "monitoring.coreos.com", object: `{kind: PodMonitor, metadata: {namespace: a, name: b}, spec: {namespaceSelector: {matchNames: [a]}, selector: {matchLabels: {app: web}}}}`, want: web},
		"a ServiceMonitor of another one":    {group: "monitoring.coreos.com", object: `{kind: ServiceMonitor, metadata: {namespace: a, name: b}, spec: {namespaceSelector: {matchNames: [c]}, selector: {matchLabels: {app: web}}}}`},
		"a ServiceMonitor of two":            {group: "monitoring.coreos.com", object: `{kind: ServiceMonitor, metadata: {namespace: a, name: b}, spec: {namespaceSelector: {matchNames: [a, c]}, selector: {matchLabels: {app: web}}}}`},
		"a ServiceMonitor of all namespaces": {group: "monitoring.coreos.com", object: `{kind: ServiceMonitor, metadata: {namespace: a, name: b}, spec: {namespaceSelector: {any: true}, selector: {matchLabels: {app: web}}}}`},
		"a Deployment":                       {group: "apps", object: `{kind: Deployment, metadata: {namespace: a, name: b}, spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web, a: "1"}}}}}`, want: `"pl":{"a":"1","app":"web"}`},
		"a CronJob":                          {group: "batch", object: `{kind: CronJob, metadata: {namespace: a, name: b}, spec: {jobTemplate: {spec: {template: {metadata: {labels: {app: web}}}}}}}`, want: `"pl":{"app":"web"}`},
		"an unlisted kind with a template":   {group: "example.com", object: `{kind: Pool, metadata: {namespace: a, name: b}, spec: {template: {metadata: {labels: {app: web}}}}}`, want: `"pl":{"app":"web"}`},
		"a ReplicaSet of a Deployment":       {group: "apps", object: `{kind: ReplicaSet, metadata: {namespace: a, name: b, ownerReferences: [{controller: true}]}, spec: {template: {metadata: {labels: {app: web}}}}}`},
		"labels of another type":             {group: "example.com", object: `{kind: Pool, metadata: {namespace: a, name: b}, spec: {template: {metadata: {labels: [web]}}, jobTemplate: 1}}`},
		"too many values":                    {group: "policy", object: `{kind: PodDisruptionBudget, metadata: {namespace: a, name: b}, spec: {selector: {matchExpressions: [{key: a, operator: In, values: [` + strings.Repeat("x,", 40) + `x]}]}}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			text, err := yaml.YAMLToJSON([]byte(tt.object))
			if err != nil {
				t.Fatal(err)
			}
			summary, err := Summarize(tt.group, &fakeObject{json: string(text)}, false)
			if err != nil {
				t.Fatal(err)
			}
			got := string(summary)
			if tt.want == "" && (strings.Contains(got, `"sel"`) || strings.Contains(got, `"pl"`)) || !strings.Contains(got, tt.want) {
				t.Errorf("summary %s, want %q in it", got, tt.want)
			}
		})
	}
}

// TestKindsOfPart: the kinds of a view say whether the graph has all of their objects, and those of a part do not.
func TestKindsOfPart(t *testing.T) {
	s := newStage(t)
	s.set("Running", false, "a")
	told := func(whole bool) (of, part string) {
		kinds := s.publisher.kinds.of(s.lens, Scope{Whole: whole})
		return string(kinds.text), string(kinds.ofPart)
	}
	const partial = `{"g":"","v":"v1","r":"pods","k":"Pod"}`
	all := strings.Replace(partial, "}", `,"a":true}`, 1)
	for _, whole := range []bool{false, true, false} {
		want := partial
		if whole {
			want = all
		}
		if of, part := told(whole); of != want || part != partial {
			t.Errorf("whole %v: kinds %s, of a part %s; want %s, %s", whole, of, part, want, partial)
		}
	}
}
