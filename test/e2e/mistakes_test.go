package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"graphview.dev/test/fixture"
)

// around is what kubectl and the API server put around what they have to say: a
// file name, bullets, and that they did not look further.
var around = regexp.MustCompile(`error when creating "[^"]*": |\n\* <nil>: .*|\n\* `)

// kubectl apply refuses mistakes that the schema of the CustomResourceDefinition finds.
func TestMistakesRefused(t *testing.T) {
	namespace := newNamespace(t)
	for name, tc := range map[string]struct {
		spec string
		want string
	}{
		"empty queries": {
			spec: "queries: []",
			want: `The GraphView "mistaken" is invalid: spec.queries: Invalid value: 0: spec.queries in body should have at least 1 items`,
		},
		"no queries": {
			spec: "namespaces: {names: [shop]}",
			want: `The GraphView "mistaken" is invalid: spec.queries: Required value`,
		},
		"include and exclude": {
			spec: `
queries:
- include: {resourceSelectorExpression: "true"}
  exclude: {resourceSelectorExpression: "true"}`,
			want: `The GraphView "mistaken" is invalid: spec.queries[0]: Invalid value: a query has exactly one of include and exclude: remove one, or make it two queries in the order in which they should be tried`,
		},
		"neither include nor exclude": {
			spec: "queries: [{}]",
			want: `The GraphView "mistaken" is invalid: spec.queries[0]: Invalid value: a query has exactly one of include and exclude: remove one, or make it two queries in the order in which they should be tried`,
		},
		"names with labelSelector": {
			spec: `
queries: [{include: {resourceSelectorExpression: "true"}}]
namespaces: {names: [shop], labelSelector: a=b}`,
			want: `The GraphView "mistaken" is invalid: spec.namespaces: Invalid value: names excludes labelSelector and fieldSelector: name the namespaces or select them, not both; objectSelectorExpression goes with either`,
		},
		"a pattern for a name": {
			spec: `
queries: [{include: {resourceSelectorExpression: "true"}}]
namespaces: {names: ["shop-*"]}`,
			want: `The GraphView "mistaken" is invalid: spec.namespaces.names[0]: Invalid value: "shop-*": must be the name of a namespace: lower case letters, digits and '-', no patterns; use labelSelector or objectSelectorExpression to select namespaces by what they have in common`,
		},
		"an unknown reference type": {
			spec: `
queries: [{include: {resourceSelectorExpression: "true"}}]
roots: {objectSelectorExpressions: ["true"], ignoreArcDirection: [owner]}`,
			want: `The GraphView "mistaken" is invalid: spec.roots.ignoreArcDirection[0]: Unsupported value: "owner": supported values: "or", "r", "t"`,
		},
		"a misspelt field": {
			spec: `queries: [{include: {resourceSelector: "true"}}]`,
			want: `Error from server (BadRequest): GraphView in version "v1alpha1" cannot be handled as a GraphView: strict decoding error: unknown field "spec.queries[0].include.resourceSelector"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := fixture.TryApply(t, cluster, graphView(t, namespace, "mistaken", tc.spec))
			if err == nil {
				t.Fatal("applied")
			}
			_, got, _ := strings.Cut(err.Error(), "exit status 1: ")
			if diff := cmp.Diff(tc.want, around.ReplaceAllString(got, "")); diff != "" {
				t.Errorf("kubectl's answer (-want +got):\n%s", diff)
			}
		})
	}
}

// A condition and the streams report mistakes that only the compiler finds, until they are
// corrected.
func TestMistakesReported(t *testing.T) {
	namespace := newNamespace(t)
	for name, tc := range map[string]struct {
		spec       string
		wantReason string
		want       string
	}{
		"CEL syntax": {
			spec:       `queries: [{include: {resourceSelectorExpression: "group = 'apps'"}}]`,
			wantReason: "InvalidExpression",
			want:       `spec.queries[0].include.resourceSelectorExpression: line 1, column 7: syntax error: unexpected '= '; == compares (and 1 more error): "group = 'apps'"`,
		},
		"unknown CEL variable on another line": {
			spec: `
queries:
- exclude: {resourceSelectorExpression: "resource == 'events'"}
- include:
    resourceSelectorExpression: |-
      group == '' &&
        resorce == 'pods'`,
			wantReason: "InvalidExpression",
			want:       `spec.queries[1].include.resourceSelectorExpression: line 2, column 3: unknown name or function 'resorce'; the variables are group, version, resource, kind and namespaced: "group == '' &&\n  resorce == 'pods'"`,
		},
		"CEL of another type": {
			spec:       `queries: [{include: {resourceSelectorExpression: "true", object: {objectSelectorExpression: "name"}}}]`,
			wantReason: "InvalidExpression",
			want:       `spec.queries[0].include.object.objectSelectorExpression: expression must evaluate to bool, not string: "name"`,
		},
		"CEL of namespaces": {
			spec: `
queries: [{include: {resourceSelectorExpression: "true"}}]
namespaces: {objectSelectorExpression: "labels.contains('a')"}`,
			wantReason: "InvalidExpression",
			want:       `spec.namespaces.objectSelectorExpression: line 1, column 16: contains() cannot be applied to map(string, string).(string): "labels.contains('a')"`,
		},
		"CEL of roots": {
			spec: `
queries: [{include: {resourceSelectorExpression: "true"}}]
roots: {objectSelectorExpressions: ["true", "Kind == 'Deployment'"]}`,
			wantReason: "InvalidExpression",
			want:       `spec.roots.objectSelectorExpressions[1]: line 1, column 1: unknown name or function 'Kind'; the variables are obj, group, version, resource, kind, namespace, name, labels and annotations: "Kind == 'Deployment'"`,
		},
		"label selector": {
			spec:       `queries: [{include: {resourceSelectorExpression: "true", object: {labelSelector: "app: web"}}}]`,
			wantReason: "InvalidSelector",
			want:       `spec.queries[0].include.object.labelSelector: line 1, column 1: invalid label selector: Invalid value: "app:": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc'); expected requirements such as app=web, tier!=cache, env in (a, b), gpu or !legacy, joined by commas: "app: web"`,
		},
		"label selector of namespaces": {
			spec: `
queries: [{include: {resourceSelectorExpression: "true"}}]
namespaces: {labelSelector: "team in shop"}`,
			wantReason: "InvalidSelector",
			want:       `spec.namespaces.labelSelector: line 1, column 9: invalid label selector: found 'shop' expected: '('; expected requirements such as app=web, tier!=cache, env in (a, b), gpu or !legacy, joined by commas: "team in shop"`,
		},
		"field selector": {
			spec:       `queries: [{include: {resourceSelectorExpression: "true", object: {fieldSelector: "metadata.name"}}}]`,
			wantReason: "InvalidSelector",
			want:       `spec.queries[0].include.object.fieldSelector: line 1, column 1: invalid field selector: cannot understand 'metadata.name'; expected field=value, field==value or field!=value, joined by commas: "metadata.name"`,
		},
		"JSONPath": {
			spec:       `queries: [{include: {resourceSelectorExpression: "true", object: {jsonPath: "{.status.conditions[?(@.type==}"}}}]`,
			wantReason: "InvalidJSONPath",
			want:       `spec.queries[0].include.object.jsonPath: invalid JSONPath: a '[?(' is not closed; expected ')]': "{.status.conditions[?(@.type==}"`,
		},
		"two mistakes": {
			spec: `
queries:
- include: {resourceSelectorExpression: "grup == ''"}
- include: {resourceSelectorExpression: "true", object: {labelSelector: "=", jsonPath: "{.a"}}`,
			wantReason: "InvalidExpression",
			want:       `spec.queries[0].include.resourceSelectorExpression: line 1, column 1: unknown name or function 'grup'; the variables are group, version, resource, kind and namespaced: "grup == ''"; spec.queries[1].include.object.labelSelector: line 1, column 1: invalid label selector: found '=', expected: !, identifier, or 'end of string'; expected requirements such as app=web, tier!=cache, env in (a, b), gpu or !legacy, joined by commas: "="; spec.queries[1].include.object.jsonPath: invalid JSONPath: a '{' is not closed; expected '}': "{.a"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			name := strings.ToLower(strings.ReplaceAll(name, " ", "-"))
			apply(t, graphView(t, namespace, name, tc.spec))
			kubectl(t, "wait", "--for=condition=Stalled", "-n", namespace, "gv/"+name, fixture.Timeout())
			got, _ := statusOf(t, namespace, name)
			if diff := cmp.Diff(condition{"Accepted", "False", tc.wantReason, tc.want, 1}, got.condition("Accepted")); diff != "" {
				t.Errorf("condition Accepted (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(condition{"Ready", "False", "NotAccepted", "The spec is not accepted: " + tc.want, 1}, got.condition("Ready")); diff != "" {
				t.Errorf("condition Ready (-want +got):\n%s", diff)
			}
			row := columns(t, kubectl(t, "get", "graphviews", "-n", namespace, name, "-o", "wide"))
			if row["READY"] != "False" || row["REASON"] != "NotAccepted" {
				t.Errorf("kubectl get says %v", row)
			}
			for way, r := range roads(t) {
				for _, path := range []string{graphPath(namespace, name), watchPath(namespace, name)} {
					status := r.refused(t, path)
					if status.Code != 422 || status.Message != tc.want {
						t.Errorf("%s, %s: %d %q, want 422 and the condition's message", way, path, status.Code, status.Message)
					}
				}
			}
			wantUsable(t, namespace, name)
		})
	}
}

// wantUsable mends a view, and wants it ready and streaming.
func wantUsable(t *testing.T, namespace, name string) {
	t.Helper()
	spec := in(namespace, wholeView)
	declare(t, namespace, name, spec)
	if got, _ := statusOf(t, namespace, name); got.condition("Stalled").Status != "" || got.condition("Accepted").Status != "True" {
		t.Errorf("after mending the conditions are %+v", got.Conditions)
	}
	s := subscribe(t, throughAPIServer(t), namespace, name)
	eventually(t, func() string { return s.Differs(expected(t, namespace, name, spec)) })
}

// A mistake in a view that is being served ends its streams.
func TestMistakeEndsStreams(t *testing.T) {
	namespace := newNamespace(t)
	deploy(t, namespace)
	declare(t, namespace, "view", in(namespace, wholeView))
	var streams []*stream
	for _, r := range roads(t) {
		streams = append(streams, subscribe(t, r, namespace, "view"))
	}
	for _, s := range streams {
		s.synced(t)
	}
	apply(t, graphView(t, namespace, "view", `
queries:
- include:
    resourceSelectorExpression: "resource in ['pods', 'configmaps'"
`))
	const want = `spec.queries[0].include.resourceSelectorExpression: line 1, column 34: ` +
		`syntax error: the expression ends too early: "resource in ['pods', 'configmaps'"`
	for _, s := range streams {
		s.wantEnd(t, websocket.StatusPolicyViolation, "StatusPolicyViolation", want)
	}
	eventually(t, func() string { // streams end before the status is written
		got, _ := statusOf(t, namespace, "view")
		if said := got.condition("Accepted").Message; said != want {
			return fmt.Sprintf("the condition says %q, want %q", said, want)
		}
		return ""
	})
	wantUsable(t, namespace, "view")
}
