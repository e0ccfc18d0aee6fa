package outline

import "graphview.dev/client"

// Absence says what is known of where an arc leads that is not in the graph, and whether
// that is wrong. It is "" where it is in the graph.
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

// NeededMost are the attributes of an arc to what is not in the graph: of one by which
// something is wrong, if there is one.
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
