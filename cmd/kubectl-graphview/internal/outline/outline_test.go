package outline

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/client"
)

var update = flag.Bool("update", false, "write what is drawn to testdata")

// graphOf reads a line for each vertex or arc: "pod/a", "pod/a or replicaset/b",
// "pod/a r configmap/c missing spec.volumes[]".
func graphOf(t *testing.T, text string) *client.Graph {
	t.Helper()
	g := &client.Graph{Vertices: map[client.Key]*client.Vertex{}, Arcs: map[client.ArcKey]client.Attributes{}}
	set := func(name string) client.Key {
		resource, name, ok := strings.Cut(name, "/")
		if !ok {
			t.Fatalf("%q is no vertex", name)
		}
		key := client.Key{Version: "v1", Resource: resource, Name: name}
		return key
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		from := set(words[0])
		g.Vertices[from] = &client.Vertex{Key: from}
		if len(words) < 3 {
			continue
		}
		to := set(words[2])
		var attributes client.Attributes
		if len(words) > 3 {
			attributes = client.Attributes{Missing: true, Outside: map[string]client.Outside{"outside": client.OutsideView, "unknown": client.OutsideUnknown}[words[3]], Optional: words[3] == "optional"}
		}
		if attributes.Missing {
			attributes.Fields = words[4:]
		} else {
			g.Vertices[to] = &client.Vertex{Key: to}
		}
		g.Arcs[client.ArcKey{From: from, To: to, Type: client.ArcType(words[1])}] = attributes
	}
	return g
}

const shop = `
replicaset/web-1 or deployment/web
pod/web-1-a or replicaset/web-1
pod/web-1-b or replicaset/web-1
replicaset/web-1 r pod/web-1-a
replicaset/web-1 r pod/web-1-b
deployment/web r configmap/web missing spec.template.spec.volumes[].configMap.name
deployment/web t secret/pull
pod/web-1-a r configmap/web missing spec.volumes[].configMap.name
pod/web-1-b r configmap/web missing spec.volumes[].configMap.name spec.containers[].envFrom[].configMapRef.name
pod/web-1-a r serviceaccount/web
pod/web-1-b r serviceaccount/web
serviceaccount/web r secret/token
service/web r pod/web-1-a
service/web r pod/web-1-b
endpointslice/web or service/web
endpointslice/web r pod/web-1-a
job/lost or cronjob/gone missing
configmap/alone`

// absent is what is not in the graph, for all the reasons.
const absent = `
pod/a r configmap/none missing spec.x
pod/a r configmap/elsewhere outside spec.x
pod/a r account/beyond unknown spec.x
pod/a r secret/extra optional spec.x
pod/b r secret/extra missing spec.y`

// replicas has a Deployment with twelve pods, two of them pending, and a StatefulSet
// with a claim for each pod.
var replicas = func() string {
	var b strings.Builder
	b.WriteString("replicaset/web-1 or deployment/web\ndeployment/web r configmap/web\ndeployment/web r secret/gone missing spec.x\nservice/web r deployment/web\nalpha/1 or alpha/0\n")
	for i := range 12 {
		fmt.Fprintf(&b, "pod/web-%02d or replicaset/web-1\npod/web-%02[1]d r configmap/web\npod/web-%02[1]d r node/n%[2]d\nservice/web r pod/web-%02[1]d\n", i, i%3)
	}
	for i := range 3 {
		fmt.Fprintf(&b, "pod/db-%d or statefulset/db\npod/db-%[1]d r claim/data-%[1]d\nstatefulset/db r pod/db-%[1]d\nendpointslice/db-%[1]d or service/db\nendpointslice/db-%[1]d r service/db\n", i)
	}
	return strings.ReplaceAll(b.String(), "node/", "nodes/")
}()

// troubled are two of the pods.
func troubled(k client.Key) (string, bool) {
	bad := k.Name == "web-03" || k.Name == "web-04"
	switch {
	case bad:
		return "CrashLoopBackOff", true
	case k.Resource == "pod":
		return "Running", false
	}
	return "", false
}

const cycles = `
a/1 r b/1
b/1 r c/1
c/1 r a/1
x/1 or y/1
y/1 or x/1
self/1 or self/1
self/1 r self/1
top/1 r b/1`

func keyOf(resource, name string) client.Key {
	return client.Key{Version: "v1", Resource: resource, Name: name}
}

// deployed are the references of an application to other clusters.
func deployed(k client.Key) []string {
	if k.Resource != "application" {
		return nil
	}
	return []string{"Deployment/eu-1/" + k.Name + "  in another cluster", "the cluster eu-1"}
}

// TestLongChain: a long chain of owners, which anybody who may write objects can make, is folded in steps in proportion
// to its length, whether its objects have the same reference, or one each.
func TestLongChain(t *testing.T) {
	const length = 2500
	for name, secrets := range map[string]int{"the same": 1, "one each": length} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			for i := range length {
				fmt.Fprintf(&text, "configmap/c%d or configmap/c%d\nconfigmap/c%[1]d r secret/s%d\n", i+1, i, i%secrets)
			}
			g := graphOf(t, text.String())
			if looks := newFolding(g, branches(g, false, client.Key.String)).inherited(); looks > length {
				t.Errorf("it looks at %d owners for %d objects", looks, length)
			}
		})
	}
}

// TestInherited compares the references that small graphs keep with the result of a plain search for each reference.
func TestInherited(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		var text strings.Builder
		for range 1 + random.IntN(8) {
			fmt.Fprintf(&text, "pod/p%d or pod/p%d\n", random.IntN(5), random.IntN(5))
		}
		for range 1 + random.IntN(8) {
			fmt.Fprintf(&text, "pod/p%d r %s%d\n", random.IntN(5), []string{"pod/p", "secret/s"}[random.IntN(2)], random.IntN(3))
		}
		g := graphOf(t, text.String())
		f := newFolding(g, branches(g, false, client.Key.String))
		before := maps.Clone(f.branches)
		want := map[client.Key][]client.Key{}
		for key, list := range before {
			for _, b := range list {
				again := slices.ContainsFunc(slices.Collect(f.above(key)), func(owner client.Key) bool {
					return owner == b.to || slices.ContainsFunc(before[owner], func(of branch) bool { return refers(of) && of.to == b.to })
				})
				if !refers(b) || !again {
					want[key] = append(want[key], b.to)
				}
			}
		}
		f.inherited()
		got := map[client.Key][]client.Key{}
		for key, list := range f.branches {
			for _, b := range list {
				got[key] = append(got[key], b.to)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("of\n%s(-want +got):\n%s", text.String(), diff)
		}
	}
}

const applications = `
application/one or applicationset/all
application/two or applicationset/all
application/one r project/default`

func TestOutline(t *testing.T) {
	state := func(k client.Key) (string, bool) { return map[string]string{"pod": "Pending"}[k.Resource], true }
	tests := map[string]struct {
		graph   string
		options Options
	}{
		"from_the_tops":     {shop, Options{State: state}},
		"from_the_roots":    {shop, Options{Roots: []client.Key{keyOf("service", "web"), keyOf("deployment", "web")}}},
		"depth":             {shop, Options{Roots: []client.Key{keyOf("deployment", "web")}, Depth: 2}},
		"reverse":           {shop, Options{Reverse: true}},
		"one":               {shop, Options{Roots: []client.Key{keyOf("service", "web")}, Only: true}},
		"one_missing":       {shop, Options{Roots: []client.Key{keyOf("configmap", "web")}, Only: true, Reverse: true, Colours: marks{}}},
		"cycles":            {cycles, Options{}},
		"cycles_in_reverse": {cycles, Options{Reverse: true}},
		"empty":             {"", Options{}},
		"remote":            {applications, Options{Remote: deployed}},
		"remote_depth":      {applications, Options{Remote: deployed, Roots: []client.Key{keyOf("applicationset", "all")}, Depth: 1}},
		"remote_folded":     {applications, Options{Remote: deployed, Fold: true}},
		"remote_reverse":    {applications, Options{Remote: deployed, Reverse: true}},
		"folded":            {replicas, Options{Fold: true, State: troubled}},
		"folded_cycles":     {cycles, Options{Fold: true}},
		"folded_root":       {replicas, Options{Fold: true, Only: true, Roots: []client.Key{keyOf("pod", "web-07")}}},
		"absent":            {absent, Options{Fold: true}},
		"absent_in_reverse": {absent, Options{Fold: true, Reverse: true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := graphOf(t, test.graph)
			var out strings.Builder
			if _, err := Write(&out, g, test.options); err != nil {
				t.Fatal(err)
			}
			golden(t, name, out.String())
			if !test.options.Only && test.options.Depth == 0 && !test.options.Fold {
				complete(t, g, out.String())
			}
		})
	}
}

// complete wants each vertex in the outline.
func complete(t *testing.T, g *client.Graph, text string) {
	t.Helper()
	for key := range g.Vertices {
		if !strings.Contains(text, key.String()) {
			t.Errorf("%s is not drawn", key)
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// marks are colours that a reader of testdata can see.
type marks struct{}

func (marks) Bad(text string) string    { return "<bad>" + text + "</bad>" }
func (marks) Faint(text string) string  { return text }
func (marks) Strong(text string) string { return "<strong>" + text + "</strong>" }

// Deployments of three pods each, which use what they share.
func large(vertices int) *client.Graph {
	g := &client.Graph{Vertices: map[client.Key]*client.Vertex{}, Arcs: map[client.ArcKey]client.Attributes{}}
	arc := func(from client.Key, t client.ArcType, to client.Key) {
		g.Vertices[from], g.Vertices[to] = &client.Vertex{Key: from}, &client.Vertex{Key: to}
		g.Arcs[client.ArcKey{From: from, To: to, Type: t}] = client.Attributes{}
	}
	for n := 0; len(g.Vertices) < vertices; n++ {
		deployment, set := keyOf("deployment", fmt.Sprint(n)), keyOf("replicaset", fmt.Sprint(n))
		arc(set, client.Owner, deployment)
		for i := range 3 {
			pod := keyOf("pod", fmt.Sprint(n, "-", i))
			arc(pod, client.Owner, set)
			arc(keyOf("service", fmt.Sprint(n)), client.Uses, pod)
			arc(pod, client.Uses, keyOf("configmap", fmt.Sprint(n)))
			arc(pod, client.Uses, keyOf("secret", fmt.Sprint(n%10)))
			arc(pod, client.Uses, keyOf("serviceaccount", "default"))
		}
	}
	return g
}

func BenchmarkOutline(b *testing.B) {
	for _, vertices := range []int{5_000, 50_000} {
		b.Run(fmt.Sprint(vertices), func(b *testing.B) {
			g := large(vertices)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Write(io.Discard, g, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
