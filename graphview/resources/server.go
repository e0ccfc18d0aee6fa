package resources

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

const (
	// discoveryTimeout bounds one discovery, requestTimeout any other request.
	discoveryTimeout = 30 * time.Second
	requestTimeout   = 5 * time.Second
)

// errNotAggregated: all supported versions of Kubernetes answer with all groups at once.
var errNotAggregated = errors.New("the server has no aggregated discovery, which Kubernetes has since version 1.30")

// errNoCore stands for the core group's v1 missing: client-go takes a 404 there
// for an empty answer, but nothing is a Kubernetes cluster without it.
var errNoCore = errors.New("the server does not serve the core group")

// server asks an API server what it serves.
type server struct {
	client *discovery.DiscoveryClient
}

// list discovers everything. An error means that nothing is known; errors of single
// group/versions are in the listing.
//
// client-go's ServerGroupsAndResources does the same, but it drops stale group/versions when none
// is fresh, and retries everything for a single stale one.
func (s server) list(ctx context.Context) (listing, error) {
	ctx, cancel := context.WithTimeout(ctx, discoveryTimeout)
	defer cancel()
	_, byVersion, failed, err := s.client.GroupsAndMaybeResourcesWithContext(ctx)
	switch {
	case err != nil:
		return listing{}, fmt.Errorf("discover groups: %w", err)
	case byVersion == nil:
		return listing{}, errNotAggregated
	}
	l := listing{served: make(map[schema.GroupVersion][]Resource, len(byVersion)), failed: failed}
	for gv, list := range byVersion {
		l.served[gv] = watchable(gv, list.APIResources)
	}
	core := schema.GroupVersion{Version: "v1"}
	if _, known := l.failed[core]; !known && len(l.served[core]) == 0 {
		l.failed[core] = errNoCore
	}
	return l, nil
}

// ready returns an error while the server says that it is not ready. A server
// that does not answer this question is taken for ready.
func (s server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := s.client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	if err == nil || rejected(err) {
		return nil
	}
	return fmt.Errorf("server is not ready: %w", err)
}

// rejected reports whether the answer stays the same until the configuration of the cluster
// changes.
func rejected(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) ||
		apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
}
