package main

import (
	"graphview.dev/hack/miner/mine"
)

// sort is which kinds refer to which.
type sort int

const (
	kubernetes sort = iota
	listed
	unlistedToKubernetes
	unlistedToOwn
	sorts
)

var sortNames = [sorts]string{"Kubernetes' own kinds", "other kinds of the table", "unlisted kinds, to Kubernetes' kinds", "unlisted kinds, to a project's own kinds"}

// tally counts references: right and wrong are the product's.
type tally struct{ found, missed, right, wrong, unjudged int }

func (t *tally) add(o tally) {
	t.found += o.found
	t.missed += o.missed
	t.right += o.right
	t.wrong += o.wrong
	t.unjudged += o.unjudged
}

// field is a path of a kind with what it is said to refer to.
type field struct {
	kind   mine.Kind
	path   string
	target string
}

// sighting is what was seen of a field.
type sighting struct {
	count   int
	sort    sort
	class   mine.Class
	reason  string
	example string
	world   string
	verdict verdict
}

type comparison struct {
	product    *product
	judgements *judgements
	tallies    [sorts]tally
	// missed, wrong and unjudged are fields by what they are; claims are all fields of
	// claims.
	missed, wrong, unjudged, claims map[field]*sighting
	found                           map[field]int
	objects                         int
}

func newComparison(p *product, j *judgements) *comparison {
	return &comparison{
		product: p, judgements: j, missed: map[field]*sighting{}, wrong: map[field]*sighting{}, unjudged: map[field]*sighting{},
		claims: map[field]*sighting{}, found: map[field]int{},
	}
}

// world compares what is told of the objects of a world.
func (c *comparison) world(w *mine.World) {
	for _, o := range w.Objects {
		c.objects++
		c.object(w, o)
	}
}

func (c *comparison) object(w *mine.World, o *mine.Object) {
	claims, arcs := w.Claims(o), c.product.arcs(w, o)
	supported := make([]bool, len(arcs))
	contradicted := make([]bool, len(arcs))
	for i := range claims {
		claim := &claims[i]
		f := field{o.Kind, claim.Path, targetsOf(claim)}
		v := c.judgements.of(o.Kind, claim.Path, f.target)
		if v == alone || v == found {
			v = unjudged
		}
		hit := false
		for j := range arcs {
			if !joins(arcs[j].path, claim.Path) {
				continue
			}
			if agrees(&arcs[j], claim) {
				hit = true
				supported[j] = supported[j] || v == right || v == unjudged && claim.Class > mine.Coincidence
			} else if v != wrong && claim.Class == mine.Sure && !arcs[j].selector && !claim.Selector && arcs[j].target.Name == claim.Targets[0].Name {
				contradicted[j] = true
			}
		}
		s := c.sortOf(o.Kind, claimedKind(claim))
		note(c.claims, f, s, claim, w, v, example(claim))
		if v == wrong || v == unjudged && claim.Class == mine.Coincidence {
			continue
		}
		if hit {
			c.tallies[s].found++
			c.found[f]++
		} else {
			c.tallies[s].missed++
			note(c.missed, f, s, claim, w, v, example(claim))
		}
	}
	for j := range arcs {
		a := &arcs[j]
		f := field{o.Kind, a.path, a.target.Kind.String()}
		t := &c.tallies[c.sortOf(o.Kind, a.target.Kind)]
		v := c.judgements.of(o.Kind, a.path, f.target)
		why := &mine.Claim{Class: mine.Coincidence, Reason: "nothing speaks for it"}
		if contradicted[j] {
			why.Reason = "something else is said of the field"
		}
		switch {
		case v == wrong, v == alone && !supported[j], v == unjudged && contradicted[j] && !supported[j]:
			t.wrong++
			note(c.wrong, f, c.sortOf(o.Kind, a.target.Kind), why, w, v, o.Name+" -> "+a.target.Name+" in "+o.File)
		case v == right, v == found, supported[j]:
			t.right++
		default:
			t.unjudged++
			note(c.unjudged, f, c.sortOf(o.Kind, a.target.Kind), why, w, v, o.Name+" -> "+a.target.Name+" in "+o.File)
		}
	}
}
