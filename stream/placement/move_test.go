package placement

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"graphview.dev/stream/relay/edge"
	"graphview.dev/stream/replicas"
)

// TestRelocations: subscribers move when the reachable owners have been the same for a while,
// and the view has been read elsewhere for a while. A suspicion moves no subscriber, neither
// when it begins nor when it ends.
func TestRelocations(t *testing.T) {
	both := []string{"b", ""}
	for name, tt := range map[string]struct {
		// there: it is read from "" by a relay, and not here, at "a". "b", "" and "a" rank so.
		there    bool
		suspects []string
		read     time.Duration // how long it is read there by the first suspicion
		renewed  int           // how often they are suspected, each time five seconds after the last
		then     time.Duration // has gone by since
		want     bool
	}{
		"here, for a long time":                      {read: movable, want: true},
		"here, for a moment":                         {read: movable - time.Second},
		"here, the owners have come to be suspected": {suspects: both, read: movable, renewed: 1, then: time.Second},
		"here, they are suspected again and again":   {suspects: both, read: movable, renewed: 9, then: time.Second},
		"here, they were suspected until now":        {suspects: both, read: movable, renewed: 1, then: suspected},
		"here, they were suspected a while ago":      {suspects: both, read: movable, renewed: 1, then: suspected + stable, want: true},
		"there, for a long time":                     {there: true, want: true},
		"there, the owner has come to be suspected":  {there: true, suspects: []string{"b"}, renewed: 1, then: time.Second},
		"there, the owner is suspected again":        {there: true, suspects: []string{"b"}, renewed: 9, then: time.Second},
		"there, the owner was suspected until now":   {there: true, suspects: []string{"b"}, renewed: 1, then: suspected},
		"there, the owner was suspected a while ago": {there: true, suspects: []string{"b"}, renewed: 1, then: suspected + stable, want: true},
		"there, from who has come to be suspected":   {there: true, suspects: []string{""}, renewed: 1, then: time.Second},
		"there, from who is suspected again":         {there: true, suspects: []string{""}, renewed: 9, then: time.Second, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table, live := newTestTable(t)
				live.members = members{{Name: "a", Run: "a", Address: "a:1"}, {Name: "b", Run: "b", Address: "b:1"}, {}}
				e := ranked(t, table, live, "b", "", "a")
				e.applied, e.subscribers = true, 1
				var relay *edge.Relay
				if tt.there {
					relay = &edge.Relay{} // from "", and very old
				} else {
					e.users = 1
				}
				defer table.reads(e, relay)()
				time.Sleep(tt.read)
				for i := range tt.renewed {
					if i > 0 {
						time.Sleep(5 * time.Second)
					}
					for _, m := range slices.DeleteFunc(slices.Clone(live.members), func(m replicas.Member) bool { return !slices.Contains(tt.suspects, m.Run) }) {
						table.suspect(m, edge.ErrBroken)
					}
				}
				time.Sleep(tt.then)
				if got := len(table.relocations()) > 0; got != tt.want {
					t.Errorf("misplaced: %t, want %t", got, tt.want)
				}
			})
		})
	}
}
