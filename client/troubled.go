package client

import (
	"context"
	"maps"
	"slices"
)

// mostWhole is how many namespaces a server sends whole beside the objects with problems.
const mostWhole = 100

// Troubled returns the part of a present graph with which Problems is as with the whole graph: of a graph of 100,000 objects
// a few, if a few have problems. Passed is about how many objects of the graph are not in the part. The objects have
// summaries. A server before this version answers with the whole graph.
func (c *Client) Troubled(ctx context.Context, namespace, name string) (g *Graph, passed int, err error) {
	o := Options{Content: ContentSummary, only: "problems"}
	g, passed, err = c.troubled(ctx, namespace, name, o)
	if err != nil || passed == 0 {
		return g, passed, err
	}
	switch o.whole = g.undecided(); {
	case len(o.whole) == 0:
		return g, passed, nil
	case len(o.whole) > mostWhole:
		o.only, o.whole = "", nil
	}
	return c.troubled(ctx, namespace, name, o)
}

func (c *Client) troubled(ctx context.Context, namespace, name string, o Options) (*Graph, int, error) {
	m, err := c.message(ctx, namespace, name, o)
	if err != nil {
		return nil, 0, err
	}
	g := &Graph{}
	g.Apply(&m.Message)
	return g, m.passed, nil
}

// undecided returns the namespaces of the objects that have to select an object and select none. All objects of these
// namespaces are needed to know whether that is a problem.
func (g *Graph) undecided() []string {
	namespaces := map[string]bool{}
	for key := range g.Vertices {
		if g.unmatched(key) != nil {
			namespaces[key.Namespace] = true
		}
	}
	return slices.Sorted(maps.Keys(namespaces))
}
