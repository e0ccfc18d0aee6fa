package refs

import (
	"fmt"
	"hash/fnv"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/jsontree"
)

// member, element and value return the node below another one, or nil.
func (n *node) member(key string) *node {
	if n == nil {
		return nil
	}
	for i := range n.fields {
		if n.fields[i].key == key {
			return n.fields[i].node
		}
	}
	return nil
}

func (n *node) element() *node {
	if n == nil {
		return nil
	}
	return n.elements
}

func (n *node) value() *node {
	if n == nil {
		return nil
	}
	return n.values
}

// along returns the node at the end of steps.
func (n *node) along(steps []step) *node {
	for _, s := range steps {
		switch s.kind {
		case field:
			n = n.member(s.key)
		case elements:
			n = n.element()
		case values:
			n = n.value()
		}
	}
	return n
}

// reads reports whether rules read a value, or say that it is not a reference. In both cases conventions
// do not apply to it.
func (n *node) reads() bool {
	if n == nil {
		return false
	}
	if n.silent || len(n.ends) > 0 {
		return true
	}
	name := n.member("name")
	return name != nil && (name.silent || len(name.ends) > 0)
}

// at returns the node at the end of a path, and adds the missing nodes.
func (n *node) at(steps []step) *node {
	for _, s := range steps {
		n = n.below(s)
	}
	return n
}

// sumOf returns a hash of a rule.
func sumOf(r *Rule) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%+v", *r)
	return h.Sum64()
}

// Reading returns an extractor with the rules from schemas. The caller must not modify the map
// afterwards.
func (x *Extractor) Reading(of map[graph.Kind]*Reading) *Extractor {
	y := *x
	y.read, y.joinedShapes = of, make(map[graph.Kind]*jsontree.Shape)
	for kind := range x.declared {
		if reading := of[kind]; reading != nil && !x.Infers(kind) {
			both := &jsontree.Shape{}
			if own := x.kinds.of(kind); own != nil {
				both.Join(own.shape)
			}
			both.Join(reading.root.shape())
			y.joinedShapes[kind] = both
		}
	}
	return &y
}

// nodes are two nodes for one value: that of the kind's rules and that of its schema.
type nodes [2]*node

// nodes returns the roots of both trees. Either may be nil.
func (r *Reading) nodes(rules *node) nodes {
	if r == nil {
		return nodes{rules}
	}
	return nodes{rules, &r.root}
}

// member returns the nodes of a field or, in a map, the node that all values share.
func (n nodes) member(key string) (below nodes) {
	for i, one := range n {
		if below[i] = one.member(key); below[i] == nil {
			below[i] = one.value()
		}
	}
	return below
}

func (n nodes) element() nodes { return nodes{n[0].element(), n[1].element()} }

// source returns the source that reads a value. It defines the order of precedence: the table with
// ReferenceRules, then the schema, then conventions with inference.
func (n nodes) source() Source {
	switch {
	case n[0].reads():
		return ByTable
	case n[1].reads():
		return BySchema
	default:
		return ByConvention
	}
}

// require reports whether the schema says that the target of a reference has to exist.
func (n nodes) require() bool { return n[1] != nil && n[1].required }
