package client

import (
	"net/url"
	"strconv"
)

// Narrow is a part of a graph: some of its objects, and the objects that they lead to.
type Narrow struct {
	// Roots are the objects, at most 64. Their versions are ignored.
	Roots []Key
	// Direction is Down if it is "".
	Direction Direction
	// Depth is the most references from the nearest root, 0 for any number.
	Depth int
}

// add adds the part to a query.
func (n *Narrow) add(query url.Values) {
	if n == nil {
		return
	}
	for _, root := range n.Roots {
		query.Add("root", rootName(root))
	}
	if n.Direction != "" {
		query.Set("direction", string(n.Direction))
	}
	if n.Depth != 0 {
		query.Set("depth", strconv.Itoa(n.Depth))
	}
}

// rootName returns RESOURCE.GROUP/NAMESPACE/NAME.
func rootName(k Key) string {
	name := k.Resource
	if k.Group != "" {
		name += "." + k.Group
	}
	if k.Namespace != "" {
		name += "/" + k.Namespace
	}
	return name + "/" + k.Name
}
