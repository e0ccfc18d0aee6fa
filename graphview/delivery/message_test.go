package delivery

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/graph"
)

var (
	deployment = graph.Key{Resource: graph.Resource{Group: "apps", Version: "v1", Resource: "deployments"}, Namespace: "shop", Name: "web"}
	configMap  = graph.Key{Resource: graph.Resource{Version: "v1", Resource: "configmaps"}, Namespace: "shop", Name: `odd"name`}
	node       = graph.Key{Resource: graph.Resource{Version: "v1", Resource: "nodes"}, Name: "n1"}
)

func TestActions(t *testing.T) {
	tests := map[string]struct {
		change graph.Change
		want   string
	}{
		"vertex with parts": {
			graph.Change{Op: graph.SetVertex, Vertex: deployment, Part: []byte(`[{"a":1},2]`)},
			`{"svx":{"vx":{"g":"apps","v":"v1","r":"deployments","ns":"shop","n":"web"},"j":[{"a":1},2]}}`,
		},
		"vertex with named parts": {
			graph.Change{Op: graph.SetVertex, Vertex: node, Part: []byte(`{"a":1}`)},
			`{"svx":{"vx":{"g":"","v":"v1","r":"nodes","n":"n1"},"f":{"a":1}}}`,
		},
		"vertex of which no named part was found": {
			graph.Change{Op: graph.SetVertex, Vertex: node, Part: []byte(`{}`)},
			`{"svx":{"vx":{"g":"","v":"v1","r":"nodes","n":"n1"}}}`,
		},
		"vertex of which no part was selected": {
			graph.Change{Op: graph.SetVertex, Vertex: node, Part: []byte(`[]`)},
			`{"svx":{"vx":{"g":"","v":"v1","r":"nodes","n":"n1"}}}`,
		},
		"vertex without content": {
			graph.Change{Op: graph.SetVertex, Vertex: node},
			`{"svx":{"vx":{"g":"","v":"v1","r":"nodes","n":"n1"}}}`,
		},
		"vertex goes": {
			graph.Change{Op: graph.DeleteVertex, Vertex: configMap},
			`{"dvx":{"vx":{"g":"","v":"v1","r":"configmaps","ns":"shop","n":"odd\"name"}}}`,
		},
		"owner": {
			graph.Change{Op: graph.SetArc, Vertex: configMap, To: deployment, Type: graph.OwnerReference, Controller: true, BlockOwnerDeletion: true},
			`{"sarc":{"s":{"g":"","v":"v1","r":"configmaps","ns":"shop","n":"odd\"name"},"d":{"g":"apps","v":"v1","r":"deployments","ns":"shop","n":"web"},"t":"or","a":{"c":true,"b":true}}}`,
		},
		"missing target, with fields": {
			graph.Change{Op: graph.SetArc, Vertex: deployment, To: node, Type: graph.Direct, Missing: true, Fields: []string{"a.b", "c[]"}},
			`{"sarc":{"s":{"g":"apps","v":"v1","r":"deployments","ns":"shop","n":"web"},"d":{"g":"","v":"v1","r":"nodes","n":"n1"},"t":"r","a":{"e":true,"f":["a.b","c[]"],"w":["runs on"]}}}`,
		},
		"target outside": {
			graph.Change{Op: graph.SetArc, Vertex: deployment, To: node, Type: graph.Direct, Missing: true, Outside: graph.Elsewhere},
			`{"sarc":{"s":{"g":"apps","v":"v1","r":"deployments","ns":"shop","n":"web"},"d":{"g":"","v":"v1","r":"nodes","n":"n1"},"t":"r","a":{"e":true,"x":"outside"}}}`,
		},
		"optional target of which nothing is known": {
			graph.Change{Op: graph.SetArc, Vertex: deployment, To: node, Type: graph.Direct, Missing: true, Outside: graph.Unknown, Optional: true},
			`{"sarc":{"s":{"g":"apps","v":"v1","r":"deployments","ns":"shop","n":"web"},"d":{"g":"","v":"v1","r":"nodes","n":"n1"},"t":"r","a":{"e":true,"x":"unknown","o":true}}}`,
		},
		"fields with words of their own": {
			graph.Change{Op: graph.SetArc, Vertex: deployment, To: node, Type: graph.Direct, Fields: []string{"a", graph.WithWord("a", "feeds"), graph.WithWord("b", "is fed by")}},
			`{"sarc":{"s":{"g":"apps","v":"v1","r":"deployments","ns":"shop","n":"web"},"d":{"g":"","v":"v1","r":"nodes","n":"n1"},"t":"r","a":{"f":["a","b"],"w":["runs on","feeds","is fed by"]}}}`,
		},
		"field and word that are no plain text": {
			graph.Change{Op: graph.SetArc, Vertex: deployment, To: node, Type: graph.Direct, Fields: []string{graph.WithWord("a\\\"b", `"]}}],"reset":true,"x":["`)}},
			`{"sarc":{"s":{"g":"apps","v":"v1","r":"deployments","ns":"shop","n":"web"},"d":{"g":"","v":"v1","r":"nodes","n":"n1"},"t":"r","a":{"f":["a\\\"b"],"w":["\"]}}],\"reset\":true,\"x\":[\""]}}}`,
		},
		"arc without attributes": {
			graph.Change{Op: graph.SetArc, Vertex: node, To: node, Type: graph.Transitive},
			`{"sarc":{"s":{"g":"","v":"v1","r":"nodes","n":"n1"},"d":{"g":"","v":"v1","r":"nodes","n":"n1"},"t":"t"}}`,
		},
		"arc goes": {
			graph.Change{Op: graph.DeleteArc, Vertex: deployment, To: node, Type: graph.Direct},
			`{"darc":{"s":{"g":"apps","v":"v1","r":"deployments","ns":"shop","n":"web"},"d":{"g":"","v":"v1","r":"nodes","n":"n1"},"t":"r"}}`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := &frameBuilder{}
			b.add(&tt.change)
			b.close("", false)
			if diff := cmp.Diff(`{"actions":[`+tt.want+`]}`, string(b.frames[0].JSON)); diff != "" {
				t.Errorf("frame (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, string(b.frames[0].Actions)); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFrameMembers(t *testing.T) {
	w := About(streamv1alpha1.InformerSyncFailed, "m", pods, "shop")
	b := &frameBuilder{reset: true}
	b.warn([]Warning{w}, []Warning{{Type: streamv1alpha1.DiscoveryFailed}})
	b.close("run.view.0.1", true)
	want := `{"warnings":[{"t":"INFORMER_SYNC_FAILED","m":"m","a":{"g":"","v":"v1","r":"pods","ns":"shop"}}],` +
		`"rev":"run.view.0.1","synced":true,"reset":true,"cleared":[{"t":"DISCOVERY_FAILED"}]}`
	f := b.frames[0]
	if diff := cmp.Diff(want, string(f.JSON)); diff != "" {
		t.Errorf("frame (-want +got):\n%s", diff)
	}
	if !f.Synced || !f.Reset || f.Rev != "run.view.0.1" || !strings.HasPrefix(string(f.Warnings), `{"t":"INFORMER`) || !strings.HasSuffix(string(f.Warnings), `}}`) {
		t.Errorf("members: %+v, warnings %s", f, f.Warnings)
	}
	if b.close("", false); len(b.frames) != 1 {
		t.Errorf("an empty frame was made: %s", b.frames[1].JSON)
	}
}

// TestFramesAreBounded cuts many actions into frames of at most MaxFrameBytes,
// keeps their order, and lets a single action be larger.
func TestFramesAreBounded(t *testing.T) {
	b := &frameBuilder{}
	var want []string
	for i := range 40 {
		size := 100_000
		if i == 20 {
			size = MaxFrameBytes + 10
		}
		name := fmt.Sprint("n", i)
		want = append(want, name)
		b.add(&graph.Change{
			Op: graph.SetVertex, Vertex: graph.Key{Resource: node.Resource, Name: name},
			Part: []byte(`["` + strings.Repeat("x", size) + `"]`),
		})
	}
	b.close("rev", true)
	var got []string
	for i, f := range b.frames {
		var m struct {
			Actions []struct {
				Svx struct{ Vx struct{ N string } }
			}
			Rev string
		}
		if err := json.Unmarshal(f.JSON, &m); err != nil {
			t.Fatal(err)
		}
		if len(f.JSON) > MaxFrameBytes && len(m.Actions) > 1 {
			t.Errorf("frame %d has %d bytes and %d actions", i, len(f.JSON), len(m.Actions))
		}
		if last := i == len(b.frames)-1; (m.Rev != "") != last || f.Synced != last {
			t.Errorf("frame %d of %d: rev %q, synced %v", i, len(b.frames), m.Rev, f.Synced)
		}
		for _, a := range m.Actions {
			got = append(got, a.Svx.Vx.N)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if len(b.frames) < 5 || len(b.frames) > 8 {
		t.Errorf("%d frames", len(b.frames))
	}
}

// TestWarningsAreSplit: however many there are, no frame is too large, each is sent
// once, and the last frame alone completes the graph.
func TestWarningsAreSplit(t *testing.T) {
	var set, cleared []Warning
	for i := range 5000 {
		set = append(set, About(streamv1alpha1.InformerSyncFailed, strings.Repeat("x", maxMessage), pods, fmt.Sprint("ns", i)))
		cleared = append(cleared, Warning{Type: streamv1alpha1.AccessDenied, Attributes: attributesOf(pods, fmt.Sprint("ns", i), "")})
	}
	b := newFrameBuilder(true)
	b.add(&graph.Change{Op: graph.DeleteVertex, Vertex: node})
	b.warn(set, cleared)
	b.close("rev", true)
	got := map[string]int{}
	for i, f := range b.frames {
		var m struct {
			Actions           []any
			Warnings, Cleared []Warning
			Rev               string
		}
		if err := json.Unmarshal(f.JSON, &m); err != nil {
			t.Fatal(err)
		}
		if len(f.JSON) > MaxFrameBytes {
			t.Errorf("frame %d has %d bytes", i, len(f.JSON))
		}
		first, last := i == 0, i == len(b.frames)-1
		if (m.Rev != "") != last || f.Synced != last || f.Reset != first || (len(m.Actions) > 0) != first {
			t.Errorf("frame %d of %d: %.100s", i, len(b.frames), f.JSON)
		}
		for _, w := range append(m.Warnings, m.Cleared...) {
			got[w.Type+w.Attributes.Namespace]++
		}
	}
	if len(b.frames) < 3 || len(got) != 10_000 {
		t.Errorf("%d frames, %d warnings", len(b.frames), len(got))
	}
}

func TestRevision(t *testing.T) {
	run, other := NewRun(), NewRun()
	r := revision{view: 1, rights: 2, known: 12345}
	text := run.encode(r)
	if got, ok := run.decode(text); !ok || got != r {
		t.Errorf("decode(%q) = %+v, %v", text, got, ok)
	}
	next := run.encode(revision{view: 1, rights: 2, known: 12346})
	if text[:len(run.id)+8] == next[:len(run.id)+8] {
		t.Errorf("%s and %s tell how far they are apart", text, next)
	}
	for _, bad := range []string{"", "a.b", text[:len(text)-1], text + "a", other.encode(r), run.id + ".", run.id + ".!"} {
		if _, ok := run.decode(bad); ok {
			t.Errorf("decode(%q) succeeded", bad)
		}
	}
}

// FuzzRevision: subscribers send revisions back, so any text must be safe to parse.
func FuzzRevision(f *testing.F) {
	run := NewRun()
	f.Add("a.b.0.7ps")
	f.Add(run.encode(revision{view: 1, rights: 2, known: 3}))
	f.Add(run.id + "." + strings.Repeat("A", 22))
	f.Fuzz(func(t *testing.T, text string) {
		if r, ok := run.decode(text); ok && r.known == 0 {
			t.Errorf("%q means revision 0", text)
		}
	})
}
