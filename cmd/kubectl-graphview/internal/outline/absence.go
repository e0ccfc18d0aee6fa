package outline

import "graphview.dev/client"

// Absence describes the absence of an arc's destination from the graph, and reports whether
// that is a problem. It returns "" for a destination in the graph.
func Absence(a client.Attributes) (text string, wrong bool) {
	switch {
	case !a.Missing:
		return "", false
	case a.Outside == client.OutsideView:
		return "exists outside the view", false
	case a.Outside != "":
		return "outside the view", false
	case a.Optional:
		return "absent, optional", false
	default:
		return "MISSING", true
	}
}

// NeededMost returns the attributes of an arc to an object that is not in the graph. An arc for which the
// absence is a problem comes first.
func NeededMost(g *client.Graph, key client.Key) client.Attributes {
	most := client.Attributes{Missing: true}
	for i, arc := range g.In(key) {
		if arc.Attributes.Absent() {
			return arc.Attributes
		} else if i == 0 {
			most = arc.Attributes
		}
	}
	return most
}
