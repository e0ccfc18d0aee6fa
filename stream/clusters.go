package stream

import (
	"context"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/stream/fleet/proxy"
)

// Fleet has the other clusters of a hub. Its methods may be called by any goroutine.
type Fleet interface {
	// Route returns a route to a cluster, and waits for one. A route that leads to the server
	// which gave a client the revision since is preferred. The error is a
	// *delivery.ClosedError, or ctx's.
	Route(ctx context.Context, cluster, since string) (proxy.Route, error)
	// Clusters returns the clusters, by name.
	Clusters() []ClusterStatus
}

// ClusterStatus says whether a cluster of a fleet is connected.
type ClusterStatus struct {
	Name, DisplayName string
	// Aliases are the names of the cluster in objects of other clusters.
	Aliases   []string
	Connected bool
	// Since is when it was connected, or lost; zero if it has never been connected.
	Since time.Time
}

// serveClusters lists the clusters of the fleet. Opening a graph needs further rights.
func (s *Server) serveClusters(w http.ResponseWriter, r *http.Request) error {
	if s.options.Fleet == nil {
		return notFound(r)
	}
	list := streamv1alpha1.ClusterList{APIVersion: groupVersion.String(), Kind: "ClusterList", Items: []streamv1alpha1.Cluster{}}
	for _, c := range s.options.Fleet.Clusters() {
		item := streamv1alpha1.Cluster{Metadata: streamv1alpha1.Metadata{Name: c.Name}, DisplayName: c.DisplayName, Aliases: c.Aliases, Connected: c.Connected}
		if !c.Since.IsZero() {
			item.Since = &metav1.Time{Time: c.Since}
		}
		list.Items = append(list.Items, item)
	}
	return s.answer(w, r, askedAgain, encode(list))
}
