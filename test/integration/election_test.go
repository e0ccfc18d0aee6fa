package integration

import (
	"testing"

	"github.com/go-logr/logr/testr"

	"graphview.dev/controllers"
	"graphview.dev/test/fixture"
)

// newElection returns the election in a namespace in which a replica takes part with Run.
func newElection(t *testing.T, namespace, identity string) *controllers.Election {
	t.Helper()
	election, err := controllers.NewElection(cluster.Config(), namespace, identity, testr.New(t))
	if err != nil {
		t.Fatal(err)
	}
	return election
}

// TestElection: one of several replicas is elected, and another one as soon as that one stops.
func TestElection(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, newClient(t))
	stops := map[*controllers.Election]func(){}
	for _, identity := range []string{"a", "b", "c"} {
		election := newElection(t, namespace, identity)
		if election.Elected() {
			t.Error("a replica is elected that is no candidate")
		}
		stops[election] = fixture.Start(t, election.Run)
	}
	for len(stops) > 0 {
		var elected []*controllers.Election
		eventually(t, soon, func() string {
			elected = nil
			for election := range stops {
				if election.Elected() {
					elected = append(elected, election)
				}
			}
			if len(elected) == 0 {
				return "no replica is elected"
			}
			return ""
		})
		if len(elected) > 1 {
			t.Fatalf("%d replicas are elected", len(elected))
		}
		stops[elected[0]]()
		delete(stops, elected[0])
		if elected[0].Elected() {
			t.Error("a replica is elected that has stopped")
		}
	}
}
