package graph

import "graphview.dev/graphview/budget"

// limits is a Payer of the same limits for each namespace.
type limits struct{ names, matches int }

func (l limits) Pay(namespace string, use budget.Use, bytes int) bool {
	return bytes <= l.Most(namespace, use)
}

func (l limits) Most(_ string, use budget.Use) int {
	if use == budget.Names {
		return l.names
	}
	return l.matches
}

// limit limits the number of arcs by name and by selector of each namespace.
func (g *Graph) limit(names, matches int) {
	g.payer, g.arcBytes, g.placeholderBytes = limits{names, matches}, 1, 0
}
