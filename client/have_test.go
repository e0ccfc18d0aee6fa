package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/api/contents"
	"graphview.dev/api/reason"
)

// tag returns the tag of the pod's key.
func tag(name string) contents.Tag {
	return tagOf(Key{Version: "v1", Resource: "pods", Namespace: "shop", Name: name})
}

// TestKeep: a reset that keeps a bucket keeps its vertices and the arcs that begin there, and nothing else.
func TestKeep(t *testing.T) {
	other := "b"
	for tag(other)>>63 == tag("a")>>63 {
		other += "b" // it must be in another bucket
	}
	podB, setB := strings.ReplaceAll(podB, `"n":"b"`, `"n":"`+other+`"`), strings.ReplaceAll(setB, `"n":"b"`, `"n":"`+other+`"`)
	mine, server := contents.New(1, contents.Seed{}), contents.New(1, contents.Seed{})
	server.AddVertex(tag(other), 1) // its bucket differs
	g := &Graph{}
	for _, text := range []string{
		`{"actions":[` + setA + `,` + setB + `],"warnings":[` + denied + `],"rev":"1","synced":true}`,
		`{"actions":[{"sarc":{"s":` + podA + `,"d":` + podB + `,"t":"r"}},{"sarc":{"s":` + podB + `,"d":` + podA + `,"t":"or"}}]}`,
		`{"reset":true,"keep":"` + mine.Kept(server).String() + `"}`,
	} {
		m, err := parseMessage([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		g.Apply(&m.Message)
	}
	if diff := cmp.Diff("a a-r->"+other+" @", summary(g)); diff != "" {
		t.Error(diff)
	}
}

// TestHaveIsWhatMessagesMade: the sums do not depend on the order of messages, and differ if any attribute does.
func TestHaveIsWhatMessagesMade(t *testing.T) {
	sums := func(texts ...string) []uint64 {
		g := &Graph{}
		for _, text := range texts {
			m, err := parseMessage([]byte(`{"actions":[` + text + `]}`))
			if err != nil {
				t.Fatal(err)
			}
			g.Apply(&m.Message)
		}
		h := contents.New(0, contents.Seed{1, 2})
		g.addTo(h)
		return h.Sums
	}
	arc := func(attributes string) string { return `{"sarc":{` + arcAB + attributes + `}}` }
	if diff := cmp.Diff(sums(setA, setB, arc("")), sums(setB+","+arc(`,"a":{"e":true}`), setA, arc(""))); diff != "" {
		t.Error(diff)
	}
	seen := map[uint64]string{}
	for _, attributes := range []string{
		"", `,"a":{"c":true}`, `,"a":{"b":true}`, `,"a":{"e":true}`, `,"a":{"o":true}`, `,"a":{"e":true,"x":"gone"}`,
		`,"a":{"f":["x"],"w":["y"]}`, `,"a":{"f":["x"],"w":["z"]}`, `,"a":{"f":["x","y"],"w":[]}`,
	} {
		sum := sums(setA, setB, arc(attributes))[0]
		if before, found := seen[sum]; found {
			t.Errorf("%q and %q have equal sums", before, attributes)
		}
		seen[sum] = attributes
	}
}

// manyPods returns the actions that set n pods.
func manyPods(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`{"svx":{"vx":{"g":"","v":"v1","r":"pods","ns":"shop","n":"p%d"},"c":"AAAAAAAAAAE"}}`, i)
	}
	return strings.Join(all, ",")
}

// TestHaveOfALargeGraph: sums that are too long for a URL are the first message. A server that takes none is
// sent fewer, in the URL.
func TestHaveOfALargeGraph(t *testing.T) {
	server, c := serve(t,
		act{sends: []string{`{"actions":[` + manyPods(3_000) + `],"rev":"1","synced":true}`}},
		act{reads: true, sends: []string{`{"rev":"2","synced":true}`}},
		act{reads: true, sends: []string{`{"error":{"code":1008,"reason":"` + string(reason.UnexpectedMessage) + `","message":"takes none"}}`}, closes: 1008},
		act{sends: []string{`{"rev":"3","synced":true}`}, stays: true},
	)
	s := c.Watch("shop", "storefront", quick)
	defer s.Close()
	for s.Graph().Rev != "3" {
		if _, err := s.Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"", "have=message&since=1", "have=message&since=2", "have=sums&since=2"}, server.queries()); diff != "" {
		t.Error(diff)
	}
	var first struct{ Have string }
	if err := json.Unmarshal([]byte(server.received[0]), &first); err != nil {
		t.Fatal(err)
	}
	if h, err := contents.Parse(first.Have); err != nil || h.Bits <= maxURLBits {
		t.Errorf("%v, %v", h, err)
	}
}

// TestContinued: a subscription reports a reset that keeps a part of the graph as changes. It deletes the elements
// that did not come again when the graph is whole.
func TestContinued(t *testing.T) {
	none, all := contents.New(0, contents.Seed{}), contents.New(0, contents.Seed{})
	all.AddVertex(tag("a"), 1)
	nothing, everything := none.Kept(all).String(), none.Kept(none).String()
	server, c := serve(t,
		act{sends: []string{`{"actions":[` + setA + `,` + setB + `,{"sarc":{` + arcAB + `}}],"rev":"1","synced":true}`}},
		act{sends: []string{`{"syncing":true}`, `{"reset":true,"keep":"` + nothing + `","actions":[` + setA + `]}`, `{"rev":"2","synced":true}`}, closes: 1001, reason: "Outdated: continue"},
		act{sends: []string{`{"reset":true,"keep":"` + everything + `"}`, `{"rev":"3","synced":true}`}, stays: true},
	)
	s := c.Watch("shop", "storefront", quick)
	defer s.Close()
	for i, want := range []string{"a b a-r->b @1 synced", "a b a-r->b @1", "a b a-r->b @", "a @2 synced", "a @", "a @3 synced"} {
		m, err := s.Receive(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, summary(s.Graph())); diff != "" {
			t.Errorf("after message %d (-want +got):\n%s", i+1, diff)
		}
		var text Message
		if err := json.Unmarshal(m.JSON, &text); err != nil || text.Reset || text.Keep != "" || len(text.Actions) != len(m.Actions) {
			t.Errorf("message %d: %v, %s", i+1, err, m.JSON)
		}
	}
	if diff := cmp.Diff([]string{"", "have=sums&since=1", "have=sums&since=2"}, server.queries()); diff != "" {
		t.Error(diff)
	}
}
