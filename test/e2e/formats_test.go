package e2e

import (
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/test/oracle"
)

// counts is what can be told of a text in any format without a parser for it.
type counts struct{ vertices, missing, arcs int }

var counted = map[string][3]*regexp.Regexp{
	"dot":     {regexp.MustCompile(`(?m)^ +"[^"]+" \[label`), regexp.MustCompile(`rounded,dashed`), regexp.MustCompile(`" -> "`)},
	"mermaid": {regexp.MustCompile(`(?m)^n\d+\[`), regexp.MustCompile(`:::missing`), regexp.MustCompile(`(?m)^n\d+ [-=]`)},
	"graphml": {regexp.MustCompile(`<node `), regexp.MustCompile(`<data key="missing">true`), regexp.MustCompile(`<edge `)},
}

func count(format, text string) counts {
	all := counted[format]
	return counts{len(all[0].FindAllString(text, -1)), len(all[1].FindAllString(text, -1)), len(all[2].FindAllString(text, -1))}
}

func countsOf(g oracle.Graph) counts {
	missing := map[oracle.VertexKey]bool{}
	for arc := range g.Arcs {
		if _, ok := g.Vertices[arc.To]; !ok {
			missing[arc.To] = true
		}
	}
	return counts{len(g.Vertices) + len(missing), len(missing), len(g.Arcs)}
}

// servedFormats are the formats that all roads serve. Through a hub, browsers would run scripts in
// GraphML.
func servedFormats() map[string][3]*regexp.Regexp {
	served := maps.Clone(counted)
	if *viaHub {
		delete(served, "graphml")
	}
	return served
}

// A graph can be had as a text in every format, by every road, and by kubectl;
// the text has what the graph has, and is the same each time.
func TestFormats(t *testing.T) {
	namespace := newNamespace(t)
	deploy(t, namespace)
	spec := in(namespace, wholeView)
	declare(t, namespace, "view", spec)
	for format := range servedFormats() {
		texts := map[string]string{}
		eventually(t, func() string {
			want := countsOf(expected(t, namespace, "view", spec))
			for way, r := range roads(t) {
				code, body := r.get(t, graphPath(namespace, "view")+"?format="+format)
				if code != http.StatusOK {
					t.Fatalf("%s, %s: %d %s", format, way, code, body)
				}
				texts[way] = string(body)
			}
			texts["kubectl"] = kubectl(t, "get", "--raw", graphPath(namespace, "view")+"?format="+format)
			for way, text := range texts {
				if got := count(format, text); got != want {
					return fmt.Sprintf("%s, %s: %+v, want %+v:\n%s", format, way, got, want, text)
				}
			}
			if all := slices.Compact(slices.Sorted(maps.Values(texts))); len(all) != 1 {
				return fmt.Sprintf("%s: texts differ: %s", format, cmp.Diff(all[0], all[1]))
			}
			return ""
		})
		text := texts["kubectl"]
		if !strings.Contains(text, "absent") || strings.Contains(text, "of-the-application") || strings.Contains(text, "example.com/web") {
			t.Errorf("%s: lacks what is missing, or has content:\n%s", format, text)
		}
		if format == "graphml" {
			var document struct {
				XMLName xml.Name `xml:"graphml"`
			}
			if err := xml.Unmarshal([]byte(text), &document); err != nil {
				t.Error(err)
			}
		}
	}
}

// No format contains objects that the user may not read.
func TestFormatsHaveRights(t *testing.T) {
	namespace := newNamespace(t)
	deploy(t, namespace)
	declare(t, namespace, "view", in(namespace, wholeView))
	apply(t, strings.ReplaceAll(in(namespace, `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: limited, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: limited}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: graphs, namespace: NAMESPACE}
rules: [{apiGroups: [stream.graphview.dev], resources: [graphs], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: graphs, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: graphs}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: limited}]
`), "User, name: limited", "User, name: "+named("limited")))
	limited := asUser(t, "limited", "system:authenticated")
	for format := range servedFormats() {
		eventually(t, func() string {
			code, body, err := limited.tryGet(t.Context(), graphPath(namespace, "view")+"?format="+format)
			text := string(body)
			if err != nil || code != http.StatusOK || !strings.Contains(text, "configmaps") {
				return fmt.Sprintf("%s: %d %s %v", format, code, text, err)
			}
			without := regexp.MustCompile(`(?m)^.*ACCESS_DENIED: v1/secrets in .*$`)
			if !without.MatchString(text) || strings.Contains(without.ReplaceAllString(text, ""), "secrets") {
				t.Fatalf("%s tells of Secrets, or does not tell that they are left out:\n%s", format, text)
			}
			return ""
		})
	}
	nobody := asUser(t, "nobody", "system:authenticated")
	if code, body := nobody.get(t, graphPath(namespace, "view")+"?format=dot"); code != http.StatusForbidden {
		t.Errorf("%d %s for whoever may not get the graph", code, body)
	}
}

// kubectl explains what a graph is made of, from the OpenAPI that the API server
// fetched.
func TestExplain(t *testing.T) {
	for path, want := range map[string]string{
		"graphs":                "actions build the graph from an empty one, in this order",
		"graphs.actions.svx":    "o is the object, without managedFields. Secrets have none.",
		"graphs.actions.sarc.a": "e reports whether the destination is not in the graph: it does not exist, or x says more.",
		"graphs.warnings":       "m is a text for people.",
		"graphs.metadata":       "namespace is the namespace of the view.",
	} {
		eventually(t, func() string {
			out, err := cluster.Kubectl(t.Context(), "explain", "--api-version=stream.graphview.dev/v1alpha1", path)
			if text := strings.Join(strings.Fields(string(out)), " "); err != nil || !strings.Contains(text, want) {
				return fmt.Sprintf("explain %s: %s %v, want %q", path, text, err, want)
			}
			return ""
		})
	}
}
