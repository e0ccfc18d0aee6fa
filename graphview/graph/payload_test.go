package graph

import "testing"

// TestPayloadComesFromTheLastSource: an object that another source has seen too is no reason to
// remember what the first one retains; a source that lags behind is not listened to.
func TestPayloadComesFromTheLastSource(t *testing.T) {
	g := New(nil)
	g.Update(func() {
		narrow, wide := g.AddSource(podKind, podsV1, ScopeNamespaced), g.AddSource(podKind, podsV1, ScopeNamespaced)
		set := func(source SourceID, version, hash uint64, payload string) any {
			id := g.Set(source, &Object{Namespace: "red", Name: "p", Version: version, Hash: hash, Payload: payload})
			return g.nodes.at(nodeID(id)).payload
		}
		for _, step := range []struct {
			source        SourceID
			version, hash uint64
			payload, want string
		}{
			{narrow, 3, 7, "narrow", "narrow"},
			{wide, 3, 7, "wide", "wide"},
			{narrow, 2, 6, "older", "wide"},
			{narrow, 4, 8, "newer", "newer"},
			{wide, 4, 8, "wide", "wide"},
		} {
			if got := set(step.source, step.version, step.hash, step.payload); got != step.want {
				t.Errorf("after %s: %v, want %v", step.payload, got, step.want)
			}
		}
		g.RemoveSource(narrow)
		if got := g.nodes.at(nodeID(g.Find(wide, "red", "p"))).payload; got != "wide" {
			t.Errorf("without the narrow one: %v", got)
		}
	})
}

// TestContentOfAnotherSource: a lens shows the content that the graph has, also if only a source that
// it does not watch brought it. The source that it watches confirms what it retains when the object has
// returned to that.
func TestContentOfAnotherSource(t *testing.T) {
	foundAgain := make(chan int) // any content but bytes
	for name, part := range map[string]any{"content": nil, "a kept part": []byte("red"), "a part that is found again": foundAgain} {
		t.Run(name, func(t *testing.T) {
			g := New(nil)
			var wide, narrow SourceID
			var l *Lens
			selection := Selection{Member: true, Part: part, Hash: 1}
			set := func(source SourceID, version, hash uint64) NodeID {
				return g.Set(source, &Object{Namespace: "red", Name: "p", Version: version, Hash: hash, Payload: hash})
			}
			g.Update(func() {
				l = g.NewLens()
				wide = g.AddSource(podKind, podsV1, ScopeNamespaced)
				narrow = watched(l, podKind, podsV1, ScopeNamespaced)
				set(wide, 2, 7)
				l.Select(set(narrow, 2, 7), selection)
			})
			var early, late Position
			read := func(pos *Position) (content any) {
				t.Helper()
				done, err := l.Read(pos, 100, Reading{}, func(c Change) bool { content = c.Payload; return true })
				if !done || err != nil {
					t.Fatalf("read: %t, %v", done, err)
				}
				return content
			}
			read(&early)
			g.Update(func() { set(wide, 3, 8) })
			read(&early)
			read(&late)
			g.Update(func() { set(wide, 4, 7) })
			g.Update(func() {
				if !g.Confirm(narrow, "red", "p", 4, 7) {
					l.Select(set(narrow, 4, 7), selection)
				}
			})
			want := any(uint64(7))
			if _, kept := part.([]byte); kept {
				want = nil // which did not change
			}
			if got := [2]any{read(&early), read(&late)}; got != [2]any{want, want} {
				t.Errorf("readers from before and between were given %v, want %v", got, want)
			}
		})
	}
}

// TestPartThatReturns: the part of an object is found again in the content that the graph has whenever it
// is read, so a reader may be given that of a content that the view has not decided about. It is given
// that of the next content as well, even if it is the part that the view had decided about before.
func TestPartThatReturns(t *testing.T) {
	foundAgain := make(chan int) // any content but bytes
	for name, between := range map[string]func(set func(source, version int, outdated bool)){
		"a late decision":    func(set func(int, int, bool)) { set(0, 3, false) },
		"another source":     func(set func(int, int, bool)) { set(1, 3, false) },
		"a list that lagged": func(set func(int, int, bool)) { set(1, 3, false); set(0, 2, true) },
	} {
		t.Run(name, func(t *testing.T) {
			g := New(nil)
			var sources [2]SourceID
			var l *Lens
			part := func(version int) string { return string("AABA"[version-1]) }
			set := func(source, version int, decides bool) {
				id := g.Set(sources[source], &Object{Namespace: "red", Name: "p", Version: uint64(version), Hash: uint64(version), Payload: part(version)})
				if decides {
					l.Select(id, Selection{Member: true, Part: foundAgain, Hash: uint64(part(version)[0]), OtherContent: !g.Has(id, uint64(version))})
				}
			}
			g.Update(func() {
				l = g.NewLens()
				sources[0] = watched(l, podKind, podsV1, ScopeNamespaced)
				sources[1] = g.AddSource(podKind, podsV1, ScopeNamespaced)
				set(0, 1, true)
				set(1, 1, false)
			})
			var pos Position
			shows, reads := "", 0
			read := func() {
				t.Helper()
				done, err := l.Read(&pos, 100, Reading{}, func(c Change) bool { shows, reads = c.Payload.(string), reads+1; return true })
				if !done || err != nil {
					t.Fatalf("read: %t, %v", done, err)
				}
			}
			g.Update(func() { between(set) })
			read()
			g.Update(func() { set(0, 4, true) })
			if read(); shows != "A" {
				t.Errorf("the reader shows part %s, the view has A", shows)
			}
			before := reads
			g.Update(func() { set(0, 4, true) })
			if read(); reads != before {
				t.Error("the reader is given the same part again")
			}
		})
	}
}
