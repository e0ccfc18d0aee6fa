package budget

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Bound is one limit of what may be made, or held, for one owner.
type Bound struct {
	name     string
	what     string
	limit    int64
	exceeded atomic.Uint64
}

var declared struct {
	sync.Mutex

	bounds []*Bound
}

// Declare makes a bound known under a name that metrics and documentation use,
// such as helm_manifest_bytes. What says, in the plural, what is counted and for
// whom, such as "bytes of one Helm release's manifests". It is meant for package
// variables, and panics if the name is taken or the limit is not positive.
func Declare(name, what string, limit int64) *Bound {
	declared.Lock()
	defer declared.Unlock()
	if limit <= 0 {
		panic("budget: bound " + name + " allows nothing")
	}
	if slices.ContainsFunc(declared.bounds, func(b *Bound) bool { return b.name == name }) {
		panic("budget: bound " + name + " is declared twice")
	}
	b := &Bound{name: name, what: what, limit: limit}
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

// What says what is counted.
func (b *Bound) What() string { return b.what }

// Limit is the largest count that is allowed.
func (b *Bound) Limit() int64 { return b.limit }

// Exceedings is how often the bound was exceeded since the start.
func (b *Bound) Exceedings() uint64 { return b.exceeded.Load() }

// Exceed counts that a caller wanted more than the bound allows, and returns the
// error that says so.
func (b *Bound) Exceed() *Exceeded {
	b.exceeded.Add(1)
	return &Exceeded{Bound: b}
}

// Exceeded says that a bound does not allow what would have been made. Its text
// names the bound and its limit, and nothing of what was counted.
type Exceeded struct{ Bound *Bound }

func (e *Exceeded) Error() string {
	return fmt.Sprintf("more than %d %s", e.Bound.limit, e.Bound.what)
}
