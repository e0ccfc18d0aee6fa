package placement

import (
	"context"
	"crypto/tls"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/relay/edge"
	"graphview.dev/stream/relay/holder"
	"graphview.dev/stream/replicas"
)

// replica is a replica that holds the view web, or is asked to.
type replica struct {
	holder.View

	holds, synced, gone bool

	mu    sync.Mutex
	asked []string
}

func (r *replica) Acquire(_ context.Context, _ graphview.Name, held bool) (holder.View, func(), error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, map[bool]string{true: "held", false: "to hold"}[held])
	if held && !r.holds {
		return nil, nil, &delivery.ClosedError{Reason: reason.NotFound, Message: "not held here"}
	}
	return r, func() {}, nil
}

func (r *replica) Status() graphview.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return graphview.Status{Synced: r.synced}
}

func (r *replica) WaitSynced(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// newReplicas is the table of the replica "a", which ranks last of three for web.
func newReplicas(t *testing.T, b, c *replica) (*Table, *entry) {
	t.Helper()
	live := &live{members: members{{Name: "a", Run: "a", Address: "a:1"}}}
	for run, r := range map[string]*replica{"b": b, "c": c} {
		server := httptest.NewUnstartedServer(holder.New(holder.Options{Views: r, Run: run}))
		server.EnableHTTP2 = true
		server.StartTLS()
		t.Cleanup(server.Close)
		t.Cleanup(server.CloseClientConnections)
		if r.gone {
			server.Close()
		}
		live.members = append(live.members, replicas.Member{Name: run, Run: run, Address: strings.TrimPrefix(server.URL, "https://")})
	}
	slices.SortFunc(live.members, func(a, b replicas.Member) int { return strings.Compare(a.Run, b.Run) })
	table := New(t.Context(), Options{Self: live.members[0], Members: live, TLS: &tls.Config{InsecureSkipVerify: true}})
	t.Cleanup(table.Close)
	return table, ranked(t, table, live, "b", "c", "a")
}

// TestReach: a view is read from an owner that has the graph or, while it moves there, from
// any replica that has it.
func TestReach(t *testing.T) {
	for name, tt := range map[string]struct {
		owner, former *replica
		want          string
		wantAsked     []string // the former one
	}{
		"the owner has it":          {owner: &replica{holds: true, synced: true}, want: "b"},
		"the former owner has it":   {owner: &replica{}, former: &replica{holds: true, synced: true}, want: "c", wantAsked: []string{"held"}},
		"neither has it yet":        {owner: &replica{}, former: &replica{holds: true}, want: "b", wantAsked: []string{"held"}},
		"the owner has just begun":  {owner: &replica{}, want: "b", wantAsked: []string{"held"}},
		"the owner cannot be asked": {owner: &replica{gone: true}, want: "c", wantAsked: []string{"to hold"}},
		"nobody can":                {owner: &replica{gone: true}, former: &replica{gone: true}},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.former == nil {
				tt.former = &replica{}
			}
			table, e := newReplicas(t, tt.owner, tt.former)
			relay, err := table.choose(t.Context(), e, "")
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if relay != nil {
				got = relay.Member().Run
				relay.Release()
			}
			if asked := tt.former.has(false); got != tt.want || !slices.Equal(asked, tt.wantAsked) {
				t.Errorf("it is read from %q, and the former owner was asked %q; want %q and %q", got, asked, tt.want, tt.wantAsked)
			}
		})
	}
}

// reading is a table with a subscriber that reads the view from b, its owner. Next is c, which
// ranks after b and does not have the graph.
func reading(t *testing.T) (table *Table, e *entry, relay *edge.Relay, next *replica) {
	t.Helper()
	next = &replica{}
	table, e = newReplicas(t, &replica{holds: true, synced: true}, next)
	relay, err := table.choose(t.Context(), e, "")
	if err != nil || relay == nil {
		t.Fatal(relay, err)
	}
	t.Cleanup(relay.Release)
	t.Cleanup(table.reads(e, relay))
	e.subscribers++
	return table, e, relay, next
}

// has sets whether the replica has the graph, and returns what it was asked before.
func (r *replica) has(graph bool) (asked []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.synced = graph
	return slices.Clone(r.asked)
}

// TestLeave: subscribers of a draining replica stay there until another replica has the graph.
func TestLeave(t *testing.T) {
	table, e, relay, next := reading(t)
	table.leave(relay.Member())
	if left := table.move(t.Context()); !left || relay.Retired() {
		t.Errorf("left %t, retired %t, before another one has the graph", left, relay.Retired())
	}
	if asked := next.has(true); !slices.Equal(asked, []string{"to hold"}) {
		t.Errorf("the next one was asked %q", asked)
	}
	if left := table.move(t.Context()); left || !relay.Retired() {
		t.Errorf("left %t, retired %t, when another one has it", left, relay.Retired())
	}
	again, err := table.choose(t.Context(), e, "b.x")
	if err != nil || again == nil || again.Member().Run != "c" {
		t.Fatal(again, err)
	}
	again.Release()
}

// TestStale: a replica that has lost its API server is read from until another one has the
// graph, and as long as this replica has no answer from the API server either. When it is
// back, the view is read there again.
func TestStale(t *testing.T) {
	table, e, relay, next := reading(t)
	table.setStale(relay.Member(), true)
	table.move(t.Context())
	if asked := next.has(false); relay.Retired() || len(asked) > 0 {
		t.Errorf("retired %t, and the next one was asked %q, while no API server answers", relay.Retired(), asked)
	}
	table.o.Members.(*live).renewed = time.Now()
	if table.move(t.Context()); relay.Retired() {
		t.Error("it is left before another one has the graph")
	}
	next.has(true)
	if table.move(t.Context()); !relay.Retired() {
		t.Error("it is not left when another one has the graph")
	}
	if got := table.candidates(e, "")[0].Run; got != "c" {
		t.Errorf("%s is asked first, want c", got)
	}
	table.setStale(relay.Member(), false)
	if got := table.candidates(e, "")[0].Run; got != "b" {
		t.Errorf("%s is asked first when it is back, want b", got)
	}
}
