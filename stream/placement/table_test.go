package placement

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview"
	"graphview.dev/graphview/spec"
	"graphview.dev/stream/relay/edge"
	"graphview.dev/stream/replicas"
)

type members []replicas.Member

// live are members that never change by themselves.
type live struct {
	members

	renewed time.Time
}

func (l *live) Live() []replicas.Member { return l.members }
func (*live) Changed() <-chan struct{}  { return nil }
func (l *live) Renewed() time.Time      { return l.renewed }

func (*live) Joined() <-chan struct{} {
	known := make(chan struct{})
	close(known)
	return known
}

var web = graphview.Name{Namespace: "shop", Name: "web"}

// newTestTable is that of the replica "a" of three. Nothing that it is asked here takes an
// engine.
func newTestTable(t *testing.T) (*Table, *live) {
	t.Helper()
	live := &live{members: members{{Name: "a", Run: "a", Address: "a:1"}, {Name: "b", Run: "b", Address: "b:1"}, {Name: "c", Run: "c", Address: "c:1"}}}
	table := New(t.Context(), Options{Self: live.members[0], Members: live, TLS: &tls.Config{MinVersion: tls.VersionTLS13}})
	t.Cleanup(table.Close)
	return table, live
}

// ranked declares web with a label for which the replicas rank as wanted.
func ranked(t *testing.T, table *Table, live *live, want ...string) *entry {
	t.Helper()
	label := scopeRanked(t, live.members, want...)
	table.Place(web, strings.TrimPrefix(label, "label "))
	return table.declare(web, "uid", &spec.Spec{}, nil)
}

// scopeRanked is a scope of a label for which the replicas rank as wanted.
func scopeRanked(t *testing.T, members []replicas.Member, want ...string) string {
	t.Helper()
	for i := range 1000 {
		scope := fmt.Sprint("label ", i)
		var got []string
		for _, m := range replicas.Rank(scope, members) {
			got = append(got, m.Run)
		}
		if cmp.Equal(want, got) {
			return scope
		}
	}
	t.Fatal("no label ranks the replicas so")
	return ""
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
			table, _ := newTestTable(t)
			table.Place(web, tt.label)
			if got := table.scopeLocked(table.declare(web, "uid", tt.spec, nil)); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestShares: whatever happens to views, the shares are those of the scopes that they have, and
// only a scope that comes or goes changes them.
func TestShares(t *testing.T) {
	table, live := newTestTable(t)
	random := rand.New(rand.NewPCG(1, 1))
	pick := func(n int) string { return fmt.Sprint("name-", random.IntN(n)) }
	before := map[string]bool{}
	for range 2000 {
		name := graphview.Name{Namespace: "shop", Name: pick(20)}
		switch random.IntN(5) {
		case 0:
			table.Place(name, pick(3))
		case 1:
			table.Place(name, "")
		case 2:
			table.declare(name, "uid", nil, &spec.InvalidError{})
		case 3:
			table.forget(name)
		default:
			table.declare(name, "uid", &spec.Spec{Namespaces: &spec.Namespaces{Names: []string{pick(8)}}}, nil)
		}
		now := map[string]bool{}
		for _, e := range table.entries {
			now[table.scopeLocked(e)] = true
		}
		if same := maps.Equal(before, now); same && table.unbalanced {
			t.Fatal("shares are made again for the same scopes")
		}
		if diff := cmp.Diff(replicas.Balance(slices.Collect(maps.Keys(now)), live.members), table.planLocked().shares); diff != "" {
			t.Fatal(diff)
		}
		before = now
	}
}

// TestHolds: a view is held by its owners, and by a replica that is asked for it while it
// has subscribers there, and for a while longer.
func TestHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, live := newTestTable(t)
		e := ranked(t, table, live, "a", "b", "c")
		holds := func(want bool) {
			t.Helper()
			if got := table.holdsLocked(e); got != want {
				t.Errorf("holds: %t, want %t", got, want)
			}
		}
		holds(true)
		live.members = append(live.members, replicas.Member{Name: "d", Run: "d"})
		for replicas.Rank(table.scopeLocked(e), live.members)[0].Run == "a" {
			live.members[3].Name += "d" // until it ranks first
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
		live.members = live.members[:3]
		if !table.Writes(web) {
			t.Error("no replica writes the status")
		}
	})
}

// TestSuspectsAreForgotten: the entry of a crashed run does not stay for ever.
func TestSuspectsAreForgotten(t *testing.T) {
	table, live := newTestTable(t)
	table.suspect(live.members[1], edge.ErrBroken)
	live.members[1].Run = "b2" // it has crashed and was restarted
	table.membersChanged()
	if len(table.states) > 0 {
		t.Errorf("the states are %v", table.states)
	}
}

// TestHoldOfARefusedView: a caller that has given up gets an error, never no view and no
// error.
func TestHoldOfARefusedView(t *testing.T) {
	table, _ := newTestTable(t)
	table.declare(web, "uid", nil, &spec.InvalidError{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if view, release, err := table.acquire(ctx, web); err == nil || view != nil || release != nil {
		t.Errorf("a view: %t, %v", view != nil, err)
	}
}

// TestAwait: another replica may know of a GraphView earlier.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, _ := newTestTable(t)
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
