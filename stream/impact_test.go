package stream

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/impact"
)

// impactActions are a Deployment with a pod that mounts a ConfigMap, as summaries.
var impactActions = []string{
	`{"svx":{"vx":{"g":"apps","v":"v1","r":"deployments","ns":"shop","n":"web"},"m":{"k":"Deployment","u":"1"}}}`,
	`{"svx":{"vx":{"g":"","v":"v1","r":"pods","ns":"shop","n":"web-1"},"m":{"k":"Pod","u":"2"}}}`,
	`{"svx":{"vx":{"g":"","v":"v1","r":"configmaps","ns":"shop","n":"web"},"m":{"k":"ConfigMap","u":"3","del":{"f":["example.com/wait"]}}}}`,
	`{"sarc":{"s":{"g":"","v":"v1","r":"pods","ns":"shop","n":"web-1"},"d":{"g":"apps","v":"v1","r":"deployments","ns":"shop","n":"web"},"t":"or","a":{"c":true,"b":true}}}`,
	`{"sarc":{"s":{"g":"","v":"v1","r":"pods","ns":"shop","n":"web-1"},"d":{"g":"","v":"v1","r":"configmaps","ns":"shop","n":"web"},"t":"r","a":{"f":["spec.volumes[].configMap.name"],"w":["mounts"]}}}`,
}

func TestImpact(t *testing.T) {
	for name, test := range map[string]struct {
		query      string
		wantCode   int
		wantCounts map[streamv1alpha1.Verdict]int
		wantGroups []string
		wantSaid   string // of a refusal
	}{
		"a Deployment goes with its pod": {
			"impact=deployments.apps/shop/web", http.StatusOK,
			map[streamv1alpha1.Verdict]int{"deleted": 2, "breaks now": 0, "probably breaks": 0, "cannot start again": 0, "loses an optional reference": 0, "unaffected": 1},
			[]string{"deleted deployments/web", "deleted pods/web-1 or"}, "",
		},
		"an orphaned pod stays": {
			"impact=deployments.apps/shop/web&propagationPolicy=Orphan", http.StatusOK,
			map[streamv1alpha1.Verdict]int{"deleted": 1, "breaks now": 0, "probably breaks": 0, "cannot start again": 0, "loses an optional reference": 0, "unaffected": 2},
			[]string{"deleted deployments/web"}, "",
		},
		"a ConfigMap is held by a finalizer": {
			"impact=configmaps/shop/web", http.StatusOK,
			map[streamv1alpha1.Verdict]int{"deleted": 1, "breaks now": 0, "probably breaks": 0, "cannot start again": 1, "loses an optional reference": 0, "unaffected": 1},
			[]string{"deleted configmaps/web example.com/wait", "cannot start again pods/web-1 r"}, "",
		},
		"an object that is not there":     {"impact=configmaps/shop/wbe", http.StatusNotFound, nil, nil, `ConfigMap "wbe" not found in namespace "shop"`},
		"a kind that is not selected":     {"impact=secrets/shop/web", http.StatusNotFound, nil, nil, `secrets "web" not found in namespace "shop": the view does not select secrets`},
		"a graph that does not exist":     {"none", http.StatusNotFound, nil, nil, ""},
		"an answer without what is empty": {"impact=pods/shop/web-1", http.StatusOK, map[streamv1alpha1.Verdict]int{"deleted": 1, "breaks now": 0, "probably breaks": 0, "cannot start again": 0, "loses an optional reference": 0, "unaffected": 2}, []string{"deleted pods/web-1"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			view := newView("shop/web")
			view.found = &delivery.Found{Unseen: 3}
			s := serve(t, fakeCluster{view})
			path := "namespaces/shop/graphs/web?" + test.query
			if test.query == "none" {
				path = "namespaces/shop/graphs/none?impact=pods/shop/a"
			}
			if test.wantGroups != nil || strings.Contains(test.wantSaid, "not found") {
				go func() {
					const kinds = `{"g":"","v":"v1","r":"configmaps","k":"ConfigMap"},{"g":"","v":"v1","r":"pods","k":"Pod"}`
					(<-view.subscribed).send(withKinds(frame("7", true, impactActions, warning), kinds))
				}()
			}
			code, body := s.get(graphs+path, nil)
			if code != test.wantCode {
				t.Fatalf("%d %s, want %d", code, body, test.wantCode)
			}
			if code != http.StatusOK {
				if status := statusOf(t, body); !strings.Contains(status.Message, test.wantSaid) {
					t.Errorf("%q, want %q", status.Message, test.wantSaid)
				}
				return
			}
			var got streamv1alpha1.GraphImpact
			if err := json.Unmarshal(body, &got); err != nil {
				t.Fatal(err)
			}
			var groups []string
			deleted := 0
			for _, g := range got.Groups {
				said := string(g.Verdict) + " " + g.Objects[0].Resource + "/" + g.Objects[0].Name
				for _, step := range g.Path {
					said += " " + string(step.Type)
				}
				for _, hold := range g.Holds {
					said += " " + hold.Finalizer
				}
				groups = append(groups, said)
				if g.Verdict == "deleted" {
					deleted += len(g.Objects)
				}
			}
			if diff := cmp.Diff(test.wantGroups, groups) + cmp.Diff(test.wantCounts, got.Counts); diff != "" {
				t.Errorf("(-want +got):\n%s%s", diff, body)
			}
			if got.Kind != impactKind || !got.Synced || len(got.Warnings) != 1 || got.Unseen != 3*deleted {
				t.Errorf("%s, want a synced %s with a warning and %d unseen referrers", body, impactKind, 3*deleted)
			}
		})
	}
}

// TestImpactOfHidden: an object that the subscriber may not list is not called absent.
func TestImpactOfHidden(t *testing.T) {
	at := func(resource, name string) graph.Key {
		return graph.Key{Resource: graph.Resource{Version: "v1", Resource: resource}, Namespace: "shop", Name: name}
	}
	secretsIn := func(namespace string) streamv1alpha1.Warning {
		return streamv1alpha1.Warning{Type: streamv1alpha1.AccessDenied, Message: "no", Attributes: map[string]any{"g": "", "v": "v1", "r": "secrets", "ns": namespace}}
	}
	denied, elsewhere := secretsIn("shop"), secretsIn("other")
	for name, test := range map[string]struct {
		warnings  []streamv1alpha1.Warning
		referrers int
		want      string
	}{
		"nobody refers to it":     {[]streamv1alpha1.Warning{denied}, 0, `you may not list secrets in namespace "shop"; no object that you may see refers to "token"`},
		"one object refers to it": {[]streamv1alpha1.Warning{elsewhere, denied}, 1, `you may not list secrets in namespace "shop"; 1 object that you may see refers to "token"`},
		"it may be listed":        {[]streamv1alpha1.Warning{elsewhere}, 1, `secrets "token" not found in namespace "shop": the view does not select secrets`},
	} {
		t.Run(name, func(t *testing.T) {
			var r impactReader
			for i := range test.warnings {
				r.warn(&test.warnings[i])
			}
			for i := range test.referrers {
				pod := at("pods", strconv.Itoa(i))
				r.graph.Set(messageKey(pod), impact.Object{Kind: "Pod"})
				r.graph.SetArc(&streamv1alpha1.Arc{From: messageKey(pod), To: messageKey(at("secrets", "token")), Type: "r", Attributes: streamv1alpha1.Attributes{Missing: true}})
			}
			asked := at("secrets", "token")
			asked.Version = ""
			if got := r.notFound(asked).Error(); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestImpactWithoutInferred: an arc that only inferred references make is left out, also one that
// something else made before.
func TestImpactWithoutInferred(t *testing.T) {
	node, pod := streamv1alpha1.Key{Version: "v1", Resource: "nodes", Name: "n"}, streamv1alpha1.Key{Version: "v1", Resource: "pods", Name: "p"}
	set := func(fields ...string) streamv1alpha1.Action {
		return streamv1alpha1.Action{SetArc: &streamv1alpha1.Arc{
			From: pod, To: node, Type: "r",
			Attributes: streamv1alpha1.Attributes{Fields: fields, Missing: true},
		}}
	}
	for name, test := range map[string]struct {
		exclude bool
		arcs    []streamv1alpha1.Action
		want    int
	}{
		"inferred":                     {true, []streamv1alpha1.Action{set("inferred/spec.a")}, 0},
		"inferred, and asked for":      {false, []streamv1alpha1.Action{set("inferred/spec.a")}, 1},
		"named too":                    {true, []streamv1alpha1.Action{set("inferred/spec.a", "spec.b")}, 1},
		"by a selector without fields": {true, []streamv1alpha1.Action{set()}, 1},
		"named before":                 {true, []streamv1alpha1.Action{set("spec.b"), set("inferred/spec.a")}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := impactReader{excludeInferred: test.exclude}
			r.graph.Set(pod, impact.Object{Kind: "Pod"})
			for i := range test.arcs {
				r.act(&test.arcs[i])
			}
			if n := r.graph.Referrers(node); n != test.want {
				t.Errorf("%d references to the node, want %d", n, test.want)
			}
		})
	}
}
