package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/client"
	"graphview.dev/graphview/printable"
)

// mostRemote bounds the references of one object to other clusters that a tree has, unless it has
// every line.
const mostRemote = 20

// remotes knows the names of other clusters. It belongs to one goroutine.
type remotes struct {
	view    *view
	aliases map[string]string // the ClusterLink of an alias, "" if several have it; nil before the first use
}

// cluster returns the ClusterLink with an alias of a cluster, or the alias if no ClusterLink has it.
func (r *remotes) cluster(ctx context.Context, called string) (name string, linked bool) {
	if r.aliases == nil {
		r.aliases = map[string]string{}
		var links []v1alpha1.ClusterLink
		if !r.view.local.serves() { // which asks for objects alone
			// Without a hub, or the right to list its clusters, no alias is known.
			links, _ = r.view.clusterLinks(ctx)
		}
		for i := range links {
			for _, known := range links[i].Spec.KnownAs {
				name, alias := links[i].Name, known.String()
				if _, again := r.aliases[alias]; again {
					name = ""
				}
				r.aliases[alias] = name
			}
		}
	}
	alias := called
	if r.view.link != "" {
		alias = r.view.link + "/" + called
	}
	if name := r.aliases[alias]; name != "" {
		return name, true
	}
	return called, false
}

// names returns the targets of an object's references to other clusters: KIND/CLUSTER/NAMESPACE/NAME, or
// KIND/NAMESPACE/NAME with the alias of the cluster. A target in the graph is left out: the alias is then another
// name of this cluster.
func (r *remotes) names(ctx context.Context, g *client.Graph, vertex *client.Vertex) []string {
	if vertex == nil || vertex.Summary == nil || len(vertex.Summary.Remote) == 0 {
		return nil
	}
	type object struct{ group, namespace, name string }
	here := map[object]bool{}
	for _, arc := range g.Out(vertex.Key) {
		here[object{arc.To.Group, arc.To.Namespace, arc.To.Name}] = true
	}
	all := make([]string, 0, len(vertex.Summary.Remote))
	for _, to := range vertex.Summary.Remote {
		cluster, linked := r.cluster(ctx, to.Cluster)
		name := strings.TrimPrefix(to.Namespace+"/"+to.Name, "/")
		switch {
		case to.Kind == "":
			all = append(all, "the cluster "+cluster)
		case linked:
			all = append(all, fmt.Sprintf("%s/%s/%s  in another cluster", to.Kind, cluster, name))
		case !here[object{to.Group, to.Namespace, to.Name}]:
			all = append(all, fmt.Sprintf("%s/%s  in another cluster: %s", to.Kind, name, cluster))
		}
	}
	for i, text := range all {
		all[i] = printable.Text(text)
	}
	slices.Sort(all)
	return all
}

// lines returns the lines of a tree for the references of its objects to other clusters.
func (r *remotes) lines(ctx context.Context, g *client.Graph, all bool) func(client.Key) []string {
	return func(key client.Key) []string {
		names := r.names(ctx, g, g.Vertices[key])
		if n := len(names) - mostRemote; n > 0 && !all {
			names = append(names[:mostRemote], fmt.Sprintf("%s in other clusters (--all)", count(n, "more object")))
		}
		return names
	}
}
