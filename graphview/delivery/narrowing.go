package delivery

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"graphview.dev/api/reason"
	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/impact"
)

// ParseNarrowing parses the parameters that narrow a graph. It returns nil if there are none.
func ParseNarrowing(roots []string, direction string, depth int) (*graph.Narrowing, error) {
	if len(roots) == 0 {
		if direction != "" || depth != 0 {
			return nil, errors.New("direction and depth go with a root, such as deployments.apps/shop/web")
		}
		return nil, nil
	}
	if len(roots) > graph.MaxRoots {
		return nil, fmt.Errorf("at most %d objects can be roots", graph.MaxRoots)
	}
	n := &graph.Narrowing{Walk: graph.Walk{Direction: graph.Down, Depth: depth}}
	if direction != "" {
		var ok bool
		if n.Walk.Direction, ok = graph.ParseDirection(direction); !ok {
			return nil, errors.New("direction must be Down, Up or Both")
		}
	}
	if depth < 0 || depth > graph.MaxDepth {
		return nil, fmt.Errorf("depth must be between 0, for any, and %d", graph.MaxDepth)
	}
	for _, text := range roots {
		root, err := ParseObject(text)
		if err != nil {
			return nil, err
		}
		n.Roots = append(n.Roots, root)
	}
	return n, nil
}

// maxRootPart is the maximum length of each part of a root, in bytes.
const maxRootPart = 253

var errRoot = errors.New("an object is RESOURCE.GROUP/NAMESPACE/NAME, such as deployments.apps/shop/web, pods/shop/web-1 or nodes/worker-1")

// ParseObject parses the name of an object, as RESOURCE.GROUP/NAMESPACE/NAME.
func ParseObject(text string) (graph.Key, error) {
	parts := strings.Split(strings.Clone(text), "/") // text would keep the URL in memory
	if len(parts) < 2 || len(parts) > 3 {
		return graph.Key{}, errRoot
	}
	for _, part := range parts {
		if part == "" || len(part) > maxRootPart || strings.ContainsFunc(part, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return graph.Key{}, errRoot
		}
	}
	var key graph.Key
	key.Resource.Resource, key.Group, _ = strings.Cut(parts[0], ".")
	if key.Resource.Resource == "" {
		return graph.Key{}, errRoot
	}
	if len(parts) == 3 {
		key.Namespace = parts[1]
	}
	key.Name = parts[len(parts)-1]
	return key, nil
}

// rootText is the inverse of ParseObject.
func rootText(k graph.Key) string {
	text := k.Resource.Resource
	if k.Group != "" {
		text += "." + k.Group
	}
	if k.Namespace != "" {
		text += "/" + k.Namespace
	}
	return text + "/" + k.Name
}

// narrowedBytes is the memory of a vertex or an arc of a narrowed graph.
const narrowedBytes = 256

// narrowing is the state of a subscription to a part of the graph. The owner pays for its walks and its
// memory as for those of an ad-hoc view.
type narrowing struct {
	what graph.Narrowing
	mark string

	memory *budget.Account // nil: the part costs nothing
	visits *budget.Bucket
	// short is the reason why the part may hold no elements, nil if it may.
	short atomic.Pointer[budget.Overdrawn]

	part  *graph.Narrowed // nil before the first Poll and after a reset
	until time.Time       // time of the next visit
	asked bool            // ready has asked the bucket for debts
}

func newNarrowing(o *SubscribeOptions) *narrowing {
	if o.Narrow == nil {
		return nil
	}
	n := &narrowing{what: *o.Narrow, mark: markOf(o.Narrow), memory: o.Memory, visits: o.Visits}
	if n.memory != nil {
		n.memory.OnRelieve(func(why *budget.Overdrawn) bool { return n.short.CompareAndSwap(nil, why) })
	}
	return n
}

// markOf returns a suffix for the digest of a viewer, since other narrowings need other messages.
func markOf(what *graph.Narrowing) string {
	h := sha256.New()
	var buf []byte
	for _, root := range what.Roots {
		// The zero byte separates the roots. ParseObject refuses it in names.
		buf = append(append(buf, rootText(root)...), 0)
	}
	buf = append(buf, byte(what.Walk.Direction))
	buf = binary.BigEndian.AppendUint64(buf, uint64(what.Walk.Depth)) //nolint:gosec // not negative
	_, _ = h.Write(buf)
	return "\x00narrow" + string(h.Sum(nil))
}

// of returns the subscriber's part of the graph. A subscriber that reconnects gets a new part, which
// does not know the vertices that have left since an older revision.
func (n *narrowing) of(lens *graph.Lens) *graph.Narrowed {
	if n.part == nil {
		n.part = lens.Narrow(n.what)
	}
	return n.part
}

// ready returns the time from which the next visit is allowed.
func (n *narrowing) ready() time.Time {
	if n.memory != nil && !n.asked {
		// The same user may have exceeded the budget with another subscription, such as the one
		// before a reconnect.
		n.asked = true
		n.charge(0)
	}
	return n.until
}

// charge charges the owner for visits, possibly none. A visit takes about half the time of one unit of
// expression cost.
func (n *narrowing) charge(visits int) {
	if wait := n.visits.Borrow((visits + 1) / 2); wait > 0 {
		n.until = time.Now().Add(wait)
	}
}

// hold charges the owner for the vertices and arcs of the part.
func (n *narrowing) hold(elements int) error {
	if why := n.short.Load(); why != nil && elements > 0 {
		return why
	}
	return n.memory.Set(budget.Elements, narrowedBytes*int64(elements)) //nolint:wrapcheck // the subscriber reads it
}

// settle charges the owner for a Poll that returned err. It returns err, or tooLarge.
func (n *narrowing) settle(err error) error {
	if n.memory == nil {
		return err
	}
	if owed := n.part.Owed(); owed > 0 {
		n.charge(owed)
	}
	if err != nil {
		return err
	}
	if err := n.hold(n.part.Size()); err != nil {
		return tooLarge(err)
	}
	return nil
}

func (n *narrowing) close() {
	if n.memory != nil {
		n.memory.Close()
	}
	n.part = nil
}

// tooLarge returns the error that ends a subscription because its part is too large.
func tooLarge(err error) *ClosedError {
	return &ClosedError{Reason: reason.LimitExceeded, Message: err.Error() + "; ask for a smaller depth or fewer roots"}
}

// absentRoots returns the warnings about missing roots as a set, and the differences from the set
// before.
func absentRoots(part *graph.Narrowed, before *warningSet) (set, cleared []Warning, now *warningSet) {
	absent := part.Absent()
	if len(absent) == 0 && before == nil {
		return nil, nil, nil
	}
	now = &warningSet{warnings: make(map[WarningID]Warning, len(absent))}
	for _, root := range absent {
		w := Warning{Type: streamv1alpha1.RootNotFound, Message: rootText(root) + " is not in this graph, or you may not see it: it is not a root until it is there"}
		w.Attributes = attributesOf(root.Resource, root.Namespace, root.Name)
		now.warnings[w.ID()] = w
	}
	if set, cleared = now.since(before); len(set)+len(cleared) == 0 {
		return nil, nil, before
	}
	return set, cleared, now
}

// ParseImpact parses a question about the deletion of an object. The syntax of object is that of a root.
func ParseImpact(object, policy string) (impact.Question, error) {
	key, err := ParseObject(object)
	if err != nil {
		return impact.Question{}, err
	}
	p, ok := impact.ParsePolicy(policy)
	if !ok {
		return impact.Question{}, errors.New("propagationPolicy must be Background, Foreground or Orphan")
	}
	return impact.Question{Object: key, Policy: p}, nil
}
