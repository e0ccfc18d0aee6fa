package placement

import (
	"context"
	"crypto/tls"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/spec"
	"graphview.dev/stream/relay/edge"
	"graphview.dev/stream/replicas"
)

type members []replicas.Member

func (m *members) Live() []replicas.Member  { return *m }
func (m *members) Changed() <-chan struct{} { return nil }

func (m *members) Joined() <-chan struct{} {
	known := make(chan struct{})
	close(known)
	return known
}

var web = graphview.Name{Namespace: "shop", Name: "web"}

// newTestTable is that of the replica "a" of three, of which each view has some holders.
// Nothing that it is asked here takes an engine.
func newTestTable(t *testing.T, holders int) (*Table, *members) {
	t.Helper()
	live := &members{{Name: "a", Run: "a", Address: "a:1"}, {Name: "b", Run: "b", Address: "b:1"}, {Name: "c", Run: "c", Address: "c:1"}}
	table := New(t.Context(), Options{Self: (*live)[0], Members: live, Holders: holders, TLS: &tls.Config{MinVersion: tls.VersionTLS13}})
	t.Cleanup(table.Close)
	return table, live
}

// ranked declares web with a label for which the replicas rank as wanted.
func ranked(t *testing.T, table *Table, live *members, want ...string) *entry {
	t.Helper()
	for i := range 1000 {
		label := fmt.Sprint(i)
		var got []string
		for _, m := range replicas.Rank("label "+label, *live) {
			got = append(got, m.Run)
		}
		if cmp.Equal(want, got) {
			table.Place(web, label)
			return table.declare(web, "uid", &spec.Spec{}, nil)
		}
	}
	t.Fatal("no label ranks the replicas so")
	return nil
}

func TestCandidates(t *testing.T) {
	for name, tt := range map[string]struct {
		holders int
		rank    []string
		since   string
		applied bool
		suspect string
		other   string // who speaks another version
		want    []string
	}{
		"the first":                    {holders: 1, rank: []string{"b", "c", "a"}, want: []string{"b", "c held"}},
		"by rank":                      {holders: 2, rank: []string{"c", "b", "a"}, want: []string{"c", "b"}},
		"an owner itself":              {holders: 2, rank: []string{"c", "a", "b"}, want: []string{"a", "c", "b held"}},
		"more holders than replicas":   {holders: 9, rank: []string{"c", "b", "a"}, want: []string{"a", "c", "b"}},
		"whose revision it is":         {holders: 2, rank: []string{"c", "b", "a"}, since: "b.x", want: []string{"b", "c"}},
		"a former owner":               {holders: 1, rank: []string{"c", "b", "a"}, since: "b.x", want: []string{"b held", "c"}},
		"a former owner itself":        {holders: 1, rank: []string{"c", "b", "a"}, since: "a.x", applied: true, want: []string{"a", "c", "b held"}},
		"a revision makes nobody hold": {holders: 1, rank: []string{"c", "b", "a"}, since: "a.x", want: []string{"c", "b held"}},
		"a lost run":                   {holders: 1, rank: []string{"c", "b", "a"}, since: "gone.x", want: []string{"c", "b held"}},
		"no revision":                  {holders: 1, rank: []string{"c", "b", "a"}, since: delivery.NoRevision, want: []string{"c", "b held"}},
		"who is suspected is passed":   {holders: 1, rank: []string{"c", "b", "a"}, since: "c.x", suspect: "c", want: []string{"b"}},
		"another version":              {holders: 1, rank: []string{"c", "b", "a"}, since: "c.x", other: "c", want: []string{"b"}},
		"nobody speaks as this one":    {holders: 2, rank: []string{"c", "a"}, other: "c", want: []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table, live := newTestTable(t, tt.holders)
				*live = (*live)[:0]
				for _, run := range slices.Sorted(slices.Values(tt.rank)) {
					m := replicas.Member{Name: run, Run: run, Address: run + ":1"}
					if run == tt.other {
						m.Wire = "newer"
					}
					*live = append(*live, m)
				}
				e := ranked(t, table, live, tt.rank...)
				e.applied = tt.applied
				list := func() []string {
					var got []string
					for _, c := range table.candidates(e, tt.since) {
						if c.held {
							c.Run += " held"
						}
						got = append(got, c.Run)
					}
					return got
				}
				for _, m := range *live {
					if m.Run == tt.suspect {
						before := list()
						table.suspect(m, edge.ErrAbsent)
						if diff := cmp.Diff(before, list()); diff != "" {
							t.Error("who does not know the view is suspected:", diff)
						}
						table.suspect(m, edge.ErrBroken)
						defer func() {
							time.Sleep(suspected)
							if diff := cmp.Diff(before, list()); diff != "" {
								t.Error("suspected for ever:", diff)
							}
						}()
					}
				}
				if diff := cmp.Diff(tt.want, list()); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestScope(t *testing.T) {
	names := func(list ...string) *spec.Spec {
		return &spec.Spec{Namespaces: &spec.Namespaces{Names: list}}
	}
	for name, tt := range map[string]struct {
		spec  *spec.Spec
		label string
		want  string
	}{
		"names, in any order": {spec: names("b", "a", "b"), want: "a,b"},
		"selected namespaces": {spec: &spec.Spec{Namespaces: &spec.Namespaces{LabelSelector: "team=a"}}, want: "*"},
		"all":                 {spec: &spec.Spec{}, want: "*"},
		"refused":             {want: "*"},
		"a label":             {spec: names("a"), label: "giant", want: "label giant"},
	} {
		t.Run(name, func(t *testing.T) {
			table, _ := newTestTable(t, 1)
			table.Place(web, tt.label)
			if got := table.scopeLocked(table.declare(web, "uid", tt.spec, nil)); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestHolds: a view is held by its owners, and by a replica that is asked for it while it
// has subscribers there, and for a while longer.
func TestHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, live := newTestTable(t, 1)
		e := ranked(t, table, live, "a", "b", "c")
		holds := func(want bool) {
			t.Helper()
			if got := table.holdsLocked(e); got != want {
				t.Errorf("holds: %t, want %t", got, want)
			}
		}
		holds(true)
		*live = append(*live, replicas.Member{Name: "d", Run: "d"})
		for replicas.Rank(table.scopeLocked(e), *live)[0].Run == "a" {
			(*live)[3].Name += "d" // until it ranks first
		}
		holds(false) // there was no subscriber
		if _, err := table.await(t.Context(), web); err != nil {
			t.Fatal(err)
		}
		holds(true)
		time.Sleep(time.Hour)
		holds(true)
		if table.Writes(web) {
			t.Error("it writes the status of another's view")
		}
		*live = (*live)[:3]
		if !table.Writes(web) {
			t.Error("no replica writes the status")
		}
	})
}

// TestSuspectsAreForgotten: the entry of a crashed run does not stay for ever.
func TestSuspectsAreForgotten(t *testing.T) {
	table, live := newTestTable(t, 1)
	table.suspect((*live)[1], edge.ErrBroken)
	(*live)[1].Run = "b2" // it has crashed and was restarted
	table.membersChanged()
	if len(table.suspects) > 0 {
		t.Errorf("suspects are %v", table.suspects)
	}
}

// TestHoldOfARefusedView: a caller that has given up gets an error, never no view and no
// error.
func TestHoldOfARefusedView(t *testing.T) {
	table, _ := newTestTable(t, 1)
	table.declare(web, "uid", nil, &spec.InvalidError{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if view, release, err := table.hold(ctx, web); err == nil || view != nil || release != nil {
		t.Errorf("a view: %t, %v", view != nil, err)
	}
}

// TestAwait: another replica may know of a GraphView earlier.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, _ := newTestTable(t, 1)
		if _, err := table.await(t.Context(), web); err == nil {
			t.Error("there is no such view")
		}
		go func() {
			time.Sleep(time.Second)
			table.declare(web, "uid", &spec.Spec{}, nil)
		}()
		if e, err := table.await(t.Context(), web); err != nil || e.users != 1 {
			t.Errorf("%v %v", e, err)
		}
	})
}
