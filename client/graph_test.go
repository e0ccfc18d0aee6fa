package client

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNeighbours: the index of neighbours equals the arcs after every message, whenever the
// first call builds it.
func TestNeighbours(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	key := func() Key { return Key{Resource: "pods", Version: "v1", Name: fmt.Sprint(random.IntN(6))} }
	types := []ArcType{Owner, Uses, Names}
	g := &Graph{}
	for step := range 400 {
		m := &Message{Reset: random.IntN(100) == 0}
		for range random.IntN(5) {
			arc := &Arc{From: key(), To: key(), Type: types[random.IntN(len(types))], Attributes: Attributes{Missing: random.IntN(2) == 0}}
			if random.IntN(3) > 0 {
				m.Actions = append(m.Actions, Action{SetArc: arc})
			} else {
				m.Actions = append(m.Actions, Action{DeleteArc: arc})
			}
		}
		g.Apply(m)
		if random.IntN(50) == 0 {
			g = g.Clone()
		}
		if step < 20 {
			continue // the index is not built yet
		}
		for i := range 6 {
			end := Key{Resource: "pods", Version: "v1", Name: fmt.Sprint(i)}
			wantOut, wantIn := map[ArcKey]Attributes{}, map[ArcKey]Attributes{}
			for k, attributes := range g.Arcs {
				if k.From == end {
					wantOut[k] = attributes
				}
				if k.To == end {
					wantIn[k] = attributes
				}
			}
			if diff := cmp.Diff(wantOut, byKey(g.Out(end))); diff != "" {
				t.Fatalf("step %d, out of %v (-want +got):\n%s", step, end, diff)
			}
			if diff := cmp.Diff(wantIn, byKey(g.In(end))); diff != "" {
				t.Fatalf("step %d, into %v (-want +got):\n%s", step, end, diff)
			}
		}
	}
}

func byKey(arcs []Arc) map[ArcKey]Attributes {
	all := map[ArcKey]Attributes{}
	for _, arc := range arcs {
		all[arc.Key()] = arc.Attributes
	}
	return all
}
