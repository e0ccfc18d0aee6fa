package refs

import (
	"slices"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/jsontree"
)

// Shape returns the fields that Extract reads of a kind. Extract returns the same references for an
// object with only these. They include labels, because selectors of other objects match them.
func (x *Extractor) Shape(kind graph.Kind) *jsontree.Shape {
	if x.Infers(kind) {
		return everything
	}
	if shape := x.joinedShapes[kind]; shape != nil {
		return shape
	}
	if own := x.kinds.of(kind); own != nil {
		if reading := x.read[kind]; reading != nil && reading.shape != nil {
			return reading.shape
		}
		return own.shape
	}
	if kubernetesGroups[kind.Group] && x.commonShape != nil {
		return x.commonShape
	}
	return everything
}

// everything is the shape that conventions read.
var everything = func() *jsontree.Shape {
	var all jsontree.Shape
	all.Whole()
	return &all
}()

// ownShape returns the shape that is read for every kind.
func ownShape() *jsontree.Shape {
	var shape jsontree.Shape
	metadata := shape.Field("metadata")
	metadata.Field("name")
	metadata.Field("namespace")
	metadata.Field("labels").Whole()
	metadata.Field("annotations").Field(trackingID)
	metadata.Field("ownerReferences").Whole()
	shape.Field("spec").Field("replicas")
	for _, field := range append(endedAt, "phase") {
		shape.Field("status").Field(field)
	}
	return &shape
}

// shape returns the fields that the rules of a tree read.
func (n *node) shape() *jsontree.Shape {
	shape := ownShape()
	n.addShape([]*jsontree.Shape{shape})
	return shape
}

// addShape adds the fields that the rules below a node read. reached are the shapes on the
// way to the node.
func (n *node) addShape(reached []*jsontree.Shape) {
	shape := reached[len(reached)-1]
	for i := range n.ends {
		n.ends[i].addShape(reached)
	}
	for _, m := range n.fields {
		m.node.addShape(append(reached, shape.Field(m.key)))
	}
	if n.elements != nil {
		n.elements.addShape(append(reached, shape.Elements()))
	}
	if n.values != nil {
		n.values.addShape(append(reached, shape.Values()))
	}
}

// addShape adds the fields that a rule reads at the end of its path.
func (l *leaf) addShape(reached []*jsontree.Shape) {
	shape, end := reached[len(reached)-1], l
	switch end.method {
	case Name, Inventory, Application, Address, Names: // the shape at the path includes a text
	case Object:
		shape.Field("name")
	case Selector, Labels:
		shape.Whole()
	}
	for c := range end.companions {
		shape := reached[c.depth]
		for _, key := range c.keys {
			shape = shape.Field(key)
		}
		shape.Whole()
	}
}

// companions yields the companion fields of a rule.
func (l *leaf) companions(yield func(*companion) bool) {
	var all []*companion
	all = append(all, l.group.field, l.kind.field)
	for i := range l.namespace {
		all = append(all, &l.namespace[i])
	}
	for _, c := range slices.Concat(l.conditions, l.exceptions, l.optionalIf) {
		for i := range c {
			all = append(all, &c[i].field)
		}
	}
	if l.remote != nil {
		for i := range l.remote.fields {
			all = append(all, &l.remote.fields[i])
		}
	}
	if l.hosts.keys != nil {
		all = append(all, &l.hosts)
	}
	if l.naming != nil {
		for i := range l.naming.template {
			all = append(all, l.naming.template[i].field)
		}
	}
	if l.within != nil {
		all = append(all, &l.within.field)
	}
	for _, c := range all {
		if c != nil && !yield(c) {
			return
		}
	}
}
