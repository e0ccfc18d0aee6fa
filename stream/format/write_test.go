package format

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

func core(resource, namespace, name string) Key {
	return Key{Version: "v1", Resource: resource, Namespace: namespace, Name: name}
}

// elements are what a test adds to a graph.
type elements struct {
	vertices []Key
	health   map[Key]string
	arcs     []Arc
	warnings []Warning
}

func (e elements) graph() *Graph {
	g := &Graph{Namespace: "shop", Name: "storefront"}
	for _, v := range e.vertices {
		g.AddVertex(v, e.health[v])
	}
	for _, a := range e.arcs {
		g.AddArc(a)
	}
	for _, w := range e.warnings {
		g.AddWarning(w)
	}
	return g
}

func storefront() elements {
	var (
		deployment = Key{"apps", "v1", "deployments", "shop", "web"}
		replicas   = Key{"apps", "v1", "replicasets", "shop", "web-5d4f"}
		pod        = core("pods", "shop", "web-5d4f-x")
		settings   = core("configmaps", "shop", "settings")
		node       = core("nodes", "", "worker-1")
		other      = core("services", "bank", "web")
	)
	return elements{
		vertices: []Key{pod, deployment, replicas, node, other},
		health:   map[Key]string{pod: "degraded", deployment: "progressing", replicas: "ok"},
		arcs: []Arc{
			{From: pod, To: replicas, Type: "or", Controller: true, BlockOwnerDeletion: true},
			{From: replicas, To: deployment, Type: "or", Controller: true},
			{From: pod, To: settings, Type: "r", Missing: true, Fields: []string{"spec.containers[].envFrom[].configMapRef.name", "spec.volumes[].configMap.name"}},
			{From: pod, To: settings, Type: "t", Missing: true, Optional: true},
			{From: pod, To: node, Type: "r", Fields: []string{"spec.nodeName"}, Words: []string{"mounts", "reads env of"}},
			{From: deployment, To: settings, Type: "t", Missing: true, Outside: "unknown", Fields: []string{"spec.template"}},
		},
		warnings: []Warning{{"ACCESS_DENIED", "v1/secrets in shop is left out"}},
	}
}

// hostile returns elements with names that are syntax in one of the formats.
func hostile() elements {
	names := []string{
		"end", "subgraph", "graph", "style", "click", "classDef a fill:#f00;", "default", "1. list", "- item", "# title", "**bold** _it_ `code`",
		`quo"te`, `back\slash`, `trailing\`, `\n\l\N`, "a&b", "&lt;b&gt;", "<b>bold</b>", "<script>alert(1)</script>", "semi;colon", "hash#quot;",
		"system:controller:a-b", "lifestyle:a#b;", "%%{init: {'theme':'dark'}}%%", "--> x", "]]>", "new\nline", "tab\ttab", "nul\x00", "bad\xffutf8",
		"line\u2028separator", "grün", "日本語", "🙂", "{curly}", "[square](round)", "|pipe|", "a/b", "a%2Fb", "'single'", "$dollar$", "$$$math$$", "fa:fa-car",
	}
	var e elements
	for i, name := range names {
		key := Key{Group: "example.com", Version: "v1", Resource: "things", Namespace: name, Name: name}
		if i%3 == 0 {
			key.Namespace = ""
		}
		e.vertices = append(e.vertices, key)
		e.arcs = append(e.arcs, Arc{From: key, To: e.vertices[0], Type: "r", Fields: []string{name}})
		e.warnings = append(e.warnings, Warning{"HOSTILE", name})
	}
	return e
}

func text(t *testing.T, g *Graph, f Format) string {
	t.Helper()
	var out strings.Builder
	if err := g.Write(&out, f); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestGolden(t *testing.T) {
	incomplete := elements{}.graph()
	incomplete.Incomplete = true
	for name, g := range map[string]*Graph{"storefront": storefront().graph(), "hostile": hostile().graph(), "empty": incomplete} {
		for _, f := range All() {
			t.Run(name+"."+string(f), func(t *testing.T) {
				got := text(t, g, f)
				file := filepath.Join("testdata", name+"."+string(f))
				if *update {
					if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		}
	}
}

// TestOrder: equal graphs give equal texts, however they were put together.
func TestOrder(t *testing.T) {
	e := storefront()
	reversed := storefront()
	slices.Reverse(reversed.vertices)
	slices.Reverse(reversed.arcs)
	e.warnings = append(e.warnings, Warning{"A", "first"})
	reversed.warnings = append([]Warning{{"A", "first"}}, reversed.warnings...)
	reversed.vertices = append(reversed.vertices, e.vertices...) // again
	for _, f := range All() {
		if diff := cmp.Diff(text(t, e.graph(), f), text(t, reversed.graph(), f)); diff != "" {
			t.Errorf("%s:\n%s", f, diff)
		}
	}
}

// TestTextsListOmissions: a text says that its graph is not complete, and has its warnings.
func TestTextsListOmissions(t *testing.T) {
	g := storefront().graph()
	g.Incomplete = true
	for _, f := range All() {
		got := text(t, g, f)
		for _, want := range []string{"not complete", "ACCESS_DENIED: v1/secrets in shop is left out"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s does not say %q:\n%s", f, want, got)
			}
		}
	}
}

func TestLen(t *testing.T) {
	vertices, arcs := storefront().graph().Len()
	if vertices != 5 || arcs != 6 {
		t.Errorf("%d vertices, %d arcs, want 5 and 6", vertices, arcs)
	}
}

var errFull = errors.New("full")

type fullWriter struct{ room int }

func (w *fullWriter) Write(p []byte) (int, error) {
	if w.room -= len(p); w.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWriteFails(t *testing.T) {
	for _, f := range All() {
		if err := storefront().graph().Write(&fullWriter{100}, f); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", f, err)
		}
	}
	var out bytes.Buffer
	if err := storefront().graph().Write(&out, "json"); err == nil || out.Len() > 0 {
		t.Errorf("json: %v, wrote %q", err, &out)
	}
}

func TestParse(t *testing.T) {
	for _, f := range All() {
		if got, err := Parse(string(f)); err != nil || got != f || f.MediaType() == "" {
			t.Errorf("%s: %s %v, %s", f, got, err, f.MediaType())
		}
	}
	_, err := Parse("DOT")
	if want := `unknown format "DOT"; there are dot, mermaid, graphml`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestDirection: a name does not change in which direction a line of an export is drawn.
func TestDirection(t *testing.T) {
	e := elements{vertices: []Key{core("roles", "shop", "reader\u202enimda\u2066")}}
	for _, f := range All() {
		var b bytes.Buffer
		if err := e.graph().Write(&b, f); err != nil {
			t.Fatal(err)
		}
		if out := b.String(); !strings.Contains(out, "nimda") || strings.ContainsAny(out, "\u202e\u2066") {
			t.Errorf("%s: %q", f, out)
		}
	}
}
