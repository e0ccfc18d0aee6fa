package graph

import (
	"fmt"
	"testing"

	"graphview.dev/graphview/budget"
)

// owned makes an object that another one owns.
func (c *crowd) owned(name, owner string) {
	c.set(c.maps, Object{Namespace: "shop", Name: name, References: []Reference{
		{Type: OwnerReference, To: mapKind, Scope: ScopeNamespaced, Namespace: "shop", Name: owner},
	}})
}

// addLeaves adds objects that the object "top" owns through the object "middle".
func (c *crowd) addLeaves(leaves int) {
	c.change(func() {
		c.set(c.maps, Object{Namespace: "shop", Name: "top"})
		c.set(c.maps, Object{Namespace: "shop", Name: "other"})
		c.owned("middle", "top")
		for i := range leaves {
			c.owned(fmt.Sprint("leaf-", i), "middle")
		}
	})
}

// addLeavesLens adds a lens that selects the objects of addLeaves, with the object "top" as its root.
func (c *crowd) addLeavesLens(leaves int) (l *Lens) {
	c.change(func() {
		l = c.newLens()
		l.SetRoots(true, Walk{Direction: Down})
		l.Select(c.g.Find(c.maps, "shop", "top"), Selection{Member: true, Root: true})
		c.selects(l, c.maps, "middle")
		for i := range leaves {
			c.selects(l, c.maps, fmt.Sprint("leaf-", i))
		}
	})
	return l
}

// TestCommitsTakeTurns: one change that takes many vertices from each of an owner's many lenses is committed
// in many revisions of few visits. Meanwhile a lens of another owner gets each of its events with the next
// revision, also if the change concerns it.
func TestCommitsTakeTurns(t *testing.T) {
	const lenses, leaves = 60, 1_500
	c := newCrowd(0, 1)
	c.addLeaves(leaves)
	var all []*Lens
	for range lenses {
		all = append(all, c.addLeavesLens(leaves))
	}
	var neighbour *Lens
	c.change(func() {
		neighbour = c.newLens()
		neighbour.SetOwner(budget.NamespaceOwner("neighbour"))
		neighbour.SetRoots(true, Walk{Direction: Down})
		for _, l := range all {
			l.SetOwner(budget.NamespaceOwner("shop"))
		}
	})
	c.change(func() {
		neighbour.Select(c.g.Find(c.maps, "shop", "top"), Selection{Member: true, Root: true})
		neighbour.Select(c.g.Find(c.pods, "shop", "p0"), Selection{Member: true, Root: true})
		c.selects(neighbour, c.maps, "middle")
	})
	began, most, ofRevision := 0, 0, 0
	c.g.ObserveLock(func() { began = c.g.spent }, func() { most = max(most, c.g.spent-began) })
	for _, change := range []struct { // one after the other
		owner    string
		vertices int // of each lens after it
	}{{"other", 1}, {"top", leaves + 2}} {
		owner, want, revisions := change.owner, change.vertices, 0
		c.g.Update(func() { c.owned("middle", owner) })
		if want := min(2, want); neighbour.Committing() != nil || neighbour.Vertices() != 1+want {
			t.Errorf("owner %s: the neighbour has %d vertices with the revision of the change, want %d", owner, neighbour.Vertices(), 1+want)
		}
		for ; len(c.g.Late()) > 0; revisions++ {
			before := neighbour.Head()
			c.g.Update(func() {
				c.set(c.pods, Object{Namespace: "shop", Name: "p0"})
				c.selects(neighbour, c.pods, "p0")
				neighbour.Select(c.g.Find(c.pods, "shop", "p0"), Selection{Member: true, Root: true})
			})
			ofRevision = max(ofRevision, c.g.spent)
			if neighbour.Committing() != nil || neighbour.Head() == before {
				t.Errorf("owner %s: the neighbour's event has not arrived with revision %d, %d lenses are late", owner, revisions, len(c.g.Late()))
			}
		}
		if least := lenses * leaves / commitVisits; revisions < least {
			t.Errorf("owner %s: committed in %d further revisions, want at least %d", owner, revisions, least)
		}
		for i, l := range all {
			if l.Vertices() != want {
				t.Errorf("owner %s: lens %d has %d vertices, want %d", owner, i, l.Vertices(), want)
			}
		}
	}
	if most > commitVisits+20*leaves || most == 0 || ofRevision > 2*commitVisits+20*leaves {
		t.Errorf("%d visits while the graph was locked, %d in one revision; want at most %d and %d", most, ofRevision, commitVisits+20*leaves, 2*commitVisits+20*leaves)
	}
}

// TestOwnersTakeTurns: of two owners with late lenses, neither waits for all those of the other, whatever one of them used
// before.
func TestOwnersTakeTurns(t *testing.T) {
	const lenses, leaves = 20, 10
	c := newCrowd(0, 0)
	c.addLeaves(leaves)
	var all []*Lens
	for i := range lenses {
		if i == lenses-5 { // the second owner comes after the first has used much
			for n := range 100 {
				c.change(func() { c.owned("middle", []string{"other", "top"}[n%2]) })
			}
		}
		all = append(all, c.addLeavesLens(leaves))
		c.change(func() { all[i].SetOwner(budget.NamespaceOwner(fmt.Sprint(i / (lenses - 5)))) })
	}
	c.g.commitVisits = 0 // one lens in each revision
	c.g.Update(func() { c.owned("middle", "other") })
	late := func(lenses []*Lens) (late int) {
		for _, l := range lenses {
			if l.Committing() != nil {
				late++
			}
		}
		return late
	}
	for commits := 1; commits < 10; commits++ {
		many, few := late(all[:lenses-5]), late(all[lenses-5:])
		if done := lenses - 5 - many; many+few != lenses-commits || done < commits/2-1 || done > commits/2+2 {
			t.Errorf("after %d commits, %d lenses of one owner are late, and %d of the 5 of the other", commits, many, few)
		}
		c.g.Update(func() {})
	}
	c.change(func() {})
}

// TestReadersOfLateLenses: a reader that waits for a late lens reads before the next revision, in which the
// lens may be late again.
func TestReadersOfLateLenses(t *testing.T) {
	const rounds = 200
	c := newCrossroads(3, 2)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range rounds {
			c.large.Counts()
		}
	}()
	for i := 0; ; i++ {
		select {
		case <-done:
			c.drain()
			return
		default:
			c.leaveLate(t, c.large, func() { c.large.SetInferred(i%2 == 1) })
			c.g.Update(func() {})
		}
	}
}
