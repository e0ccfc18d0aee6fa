package intake

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/quota"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/rules"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
	"graphview.dev/test/patience"
	"graphview.dev/test/seed"
)

var serviceResource = resources.Resource{Version: "v1", Resource: "services", Kind: "Service", Namespaced: true}

// comparing is a Feed that reads the references of each object also where the graph keeps them. With whole,
// the graph gets the references that it reads.
type comparing struct {
	*Feed

	t             testing.TB
	whole         bool
	last          map[string]graph.Object
	kept, handled atomic.Int32
}

func (c *comparing) Set(o *watch.Decoded) {
	defer c.handled.Add(1)
	verdicts, _ := c.evaluate(o)
	ev := c.event(expr.Postpone, o, verdicts)
	kept := ev.object.Kept
	if !c.whole {
		c.observe(o, &ev.observed) // before the health is judged again below
	}
	read := &setEvent{feed: c.Feed, object: ev.object}
	read.object.Kept = false
	x := ev.keptUnder // rules may have changed since
	if !kept {
		x = c.intake.o.Rules.Current().Extractor
	}
	if _, err := c.tableReferences(x, o, read); err != nil {
		c.t.Error(err)
	}
	if c.whole {
		if kept {
			ev.object, ev.observed, ev.untimed = read.object, read.observed, read.untimed
		}
		c.observe(o, &ev.observed)
	}
	if kept {
		c.kept.Add(1)
		before := c.last[o.Name()]
		if diff := gocmp.Diff(before.References, read.object.References) + gocmp.Diff(before.Labels, read.object.Labels); diff != "" {
			c.t.Errorf("%s keeps other references or labels (-kept +own):\n%s", o.Name(), diff)
		}
		if ev.object.Class != read.object.Class || ev.object.LapsesAt != read.object.LapsesAt || ev.object.Excuse != read.object.Excuse {
			c.t.Errorf("%s is judged differently: class %d, %d", o.Name(), ev.object.Class, read.object.Class)
		}
	}
	c.last[o.Name()] = read.object
	c.intake.o.Writer.Send(ev)
}

func (c *comparing) VersionOnly(o *watch.Object) {
	c.Feed.VersionOnly(o)
	c.handled.Add(1)
}

func (c *comparing) Delete(o *watch.Object) {
	c.Feed.Delete(o)
	c.handled.Add(1)
}

// serveEvents answers a list with items and one watch with events.
func serveEvents(t *testing.T, kind string, items []string, events <-chan string) *rest.Config {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") == "" {
			_, _ = fmt.Fprintf(w, `{"kind":"%sList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[%s]}`, kind, strings.Join(items, ","))
			return
		}
		for {
			w.(http.Flusher).Flush()
			select {
			case event := <-events:
				_, _ = w.Write([]byte(event))
			case <-r.Context().Done():
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &rest.Config{Host: server.URL, Transport: transport}
}

// cluster is a few objects of one kind, which change at random.
type cluster struct {
	random  *rand.Rand
	kind    string
	objects []map[string]any
	version int
}

func newCluster(t *testing.T, kind string) *cluster {
	c := &cluster{random: rand.New(rand.NewPCG(seed.Of(t), 1)), kind: kind, version: 1}
	for i := range 4 {
		c.objects = append(c.objects, map[string]any{
			"apiVersion": "v1", "kind": kind, "spec": map[string]any{}, "status": map[string]any{},
			"metadata": map[string]any{"namespace": "shop", "name": fmt.Sprintf("p%d", i), "uid": "u"},
		})
	}
	return c
}

func (c *cluster) some(name string) string { return fmt.Sprintf("%s-%d", name, c.random.IntN(3)) }

// change changes an object: mostly its status, sometimes its references.
func (c *cluster) change(object map[string]any) {
	metadata, spec := object["metadata"].(map[string]any), object["spec"].(map[string]any)
	switch c.random.IntN(16) {
	case 0:
		spec["serviceAccountName"] = c.some("account")
	case 1:
		spec["volumes"] = []any{map[string]any{"name": c.some("v"), "configMap": map[string]any{"name": c.some("config"), "optional": c.random.IntN(2) == 0}}}
	case 2:
		metadata["labels"] = map[string]any{"app": c.some("app")}
	case 3:
		metadata["ownerReferences"] = []any{map[string]any{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": c.some("set"), "uid": c.some("uid"), "controller": c.random.IntN(2) == 0}}
	case 4:
		metadata["annotations"] = map[string]any{"note": c.some("note"), "argocd.argoproj.io/tracking-id": c.some("app") + ":/Pod:shop/p0"}
	case 5:
		metadata["uid"] = c.some("uid") // deleted and created again
	case 6:
		spec["selector"] = map[string]any{"app": c.some("app")}
	case 7:
		spec["hostname"] = c.some("host")
	case 8:
		if metadata["finalizers"] = []any{c.some("finalizer")}; c.random.IntN(2) == 0 {
			metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
		} else {
			delete(metadata, "deletionTimestamp")
		}
	default:
		c.report(object)
	}
}

// report changes the status of an object.
func (c *cluster) report(object map[string]any) {
	status := object["status"].(map[string]any)
	switch c.random.IntN(6) {
	case 0:
		status["phase"] = []string{"Pending", "Running", "Succeeded", "Failed"}[c.random.IntN(4)]
	case 1:
		status["nominatedNodeName"] = c.some("node")
	default:
		status["conditions"] = []any{map[string]any{
			"type": "Ready", "status": []string{"True", "False"}[c.random.IntN(2)], "message": c.some("m"), "lastTransitionTime": "2026-01-01T00:00:00Z",
		}}
	}
}

// text returns an object as JSON, in a new version.
func (c *cluster) text(object map[string]any) string {
	c.version++
	object["metadata"].(map[string]any)["resourceVersion"] = fmt.Sprint(c.version)
	text, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (c *cluster) items() (items []string) {
	for _, object := range c.objects {
		items = append(items, c.text(object))
	}
	return items
}

// compare watches the objects of a resource of a server that lists items and sends events.
func compare(t *testing.T, of resources.Resource, items []string, events <-chan string) (*world, *comparing) {
	w := start(t, serveEvents(t, of.Kind, items, events))
	c := &comparing{t: t, last: map[string]graph.Object{}}
	key := watch.Key{Resource: schema.GroupVersionResource{Version: "v1", Resource: of.Resource}, Kind: of.Kind, Namespaced: true}
	made := make(chan struct{})
	lease, err := w.watches.Acquire(t.Context(), key, func(from *watch.Watch) watch.Handler {
		defer close(made)
		c.Feed = w.NewFeed(w.life, from, of)
		w.feedsMu.Lock()
		defer w.feedsMu.Unlock()
		w.feeds[from] = c.Feed
		return c
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lease.Release() })
	<-made
	patience.Await(t, "the list", func() bool { return c.LastState().Synced })
	return w, c
}

// declare declares a rule, or none, at random.
func (w *world) declare(t *testing.T, kind graph.Kind, n int) {
	rule := v1alpha1.ReferenceRuleSpec{From: v1alpha1.GroupKind(kind)}
	switch n {
	case 0:
		w.o.Rules.Declare("any", nil)
		return
	case 1:
		rule.Health = &v1alpha1.HealthDeclaration{Expression: "{'state': 'ok'}"}
	default:
		path := []string{"spec.hostname", "metadata.annotations.note", "status.nominatedNodeName"}[n%3]
		rule.References = []v1alpha1.ReferenceDeclaration{{Path: path, To: &v1alpha1.GroupKind{Kind: "ConfigMap"}}}
	}
	program, err := spec.CompileRule(t.Context(), nil, rule)
	if err != nil {
		t.Fatal(err)
	}
	w.o.Rules.Declare("any", &rules.Rule{RuleProgram: program, Budget: quota.NewBudget(w.budgets.Bucket(rules.Owner))})
}
