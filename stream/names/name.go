package names

import "graphview.dev/graphview"

// GraphName names one graph among all that a server serves. It is the key of everything
// that is held per graph: rights, leases and channels.
type GraphName struct {
	// Cluster is the cluster of the view; "" is the server's own.
	Cluster string
	// Namespace and Name are those of the GraphView.
	Namespace, Name string
}

// View returns the name of the view within its cluster.
func (n GraphName) View() graphview.Name {
	return graphview.Name{Namespace: n.Namespace, Name: n.Name}
}

// String returns namespace/name, after cluster/ for another cluster.
func (n GraphName) String() string {
	name := n.View().String()
	if n.Cluster != "" {
		name = n.Cluster + "/" + name
	}
	return name
}
