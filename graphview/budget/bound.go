package budget

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Bound is a limit for one owner or one piece of work.
type Bound struct {
	name     string
	counted  string
	limit    int64
	exceeded atomic.Uint64
}

var declared struct {
	sync.Mutex

	bounds []*Bound
}

// Declare registers a bound under its name in metrics and documentation, such as
// helm_manifest_bytes. The second argument is a plural that names the counted things and their
// owner, such as "bytes of one Helm release's manifests". Declare is meant for package variables,
// and panics if the name is taken or the limit is not positive.
func Declare(name, what string, limit int64) *Bound {
	declared.Lock()
	defer declared.Unlock()
	if limit <= 0 {
		panic("budget: bound " + name + " allows nothing")
	}
	if slices.ContainsFunc(declared.bounds, func(b *Bound) bool { return b.name == name }) {
		panic("budget: bound " + name + " is declared twice")
	}
	b := &Bound{name: name, counted: what, limit: limit}
	declared.bounds = append(declared.bounds, b)
	return b
}

// All returns the bounds of this program, sorted by name.
func All() []*Bound {
	declared.Lock()
	defer declared.Unlock()
	return slices.SortedFunc(slices.Values(declared.bounds), func(a, b *Bound) int { return strings.Compare(a.name, b.name) })
}

// Name is the bound's name in metrics and documentation.
func (b *Bound) Name() string { return b.name }

// Counted returns the plural given to Declare, which names the counted things and their owner.
func (b *Bound) Counted() string { return b.counted }

// Limit is the largest count that is allowed.
func (b *Bound) Limit() int64 { return b.limit }

// Exceedings returns how often the bound was exceeded since the process started.
func (b *Bound) Exceedings() uint64 { return b.exceeded.Load() }

// Exceed counts one excess, and returns the error for it.
func (b *Bound) Exceed() *Exceeded {
	b.exceeded.Add(1)
	return &Exceeded{Bound: b}
}

// Admit returns nil if an owner may take one more by mayTake. Otherwise it counts one excess, and returns an
// *[Exceeded] that says the owner's share.
func (b *Bound) Admit(held, free, few, share int64) error {
	if mayTake(held, free, few, share) {
		return nil
	}
	e := b.Exceed()
	if free > 0 {
		e.Share = held
	}
	return e
}

// Exceeded is the error for work that exceeds a bound. Its text has the limit and Counted, but no
// text of the input.
type Exceeded struct {
	Bound *Bound
	// Share is the number of things that the owner holds if it may hold no more although some are free. 0 means
	// that the owner reached the bound itself.
	Share int64
}

func (e *Exceeded) Error() string {
	if e.Bound == HeldBytes { // its limit depends on the process
		return "more memory than is free for its owner"
	}
	if e.Share > 0 {
		return fmt.Sprintf("more than %d, the caller's share, of %d %s", e.Share, e.Bound.limit, e.Bound.counted)
	}
	return fmt.Sprintf("more than %d %s", e.Bound.limit, e.Bound.counted)
}

// Meter counts the parts of a Bound that one piece of work takes.
type Meter struct {
	bound *Bound
	left  int64
	err   *Exceeded
}

// Meter returns a Meter for a new piece of work.
func (b *Bound) Meter() *Meter { return &Meter{bound: b, left: b.limit} }

// Take counts n more. The caller calls it before it allocates. The error is an *[Exceeded]. After
// the first error, each call returns that error.
func (m *Meter) Take(n int) error {
	switch {
	case m.err != nil:
		return m.err
	case n < 0 || int64(n) > m.left:
		m.left, m.err = 0, m.bound.Exceed()
		return m.err
	}
	m.left -= int64(n)
	return nil
}

// Err returns the first error of Take, nil if there was none.
func (m *Meter) Err() error {
	if m.err == nil {
		return nil
	}
	return m.err
}

// OpenGraphs limits the graphs that are being sent to subscribers.
var OpenGraphs = Declare("open_graphs", "graphs that are being sent at once", 10_000)

// ObjectParts limits the references that are read from one object and, separately, the elements of
// each list in its status.
var ObjectParts = Declare("object_parts",
	"references of one object, a label selector counted as its keys and values and at least 20, or elements of a list in its status, each counted as 10", 10_000)
