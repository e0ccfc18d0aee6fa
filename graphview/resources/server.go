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
	// discoveryTimeout is the time limit of one discovery, requestTimeout of any other request.
	discoveryTimeout = 30 * time.Second
	requestTimeout   = 5 * time.Second
)

// errNotAggregated: all supported versions of Kubernetes have aggregated discovery.
var errNotAggregated = errors.New("the server has no aggregated discovery, which Kubernetes has since version 1.30")

// errNoCore means that v1 of the core group is missing. client-go treats a 404 there
// as an empty answer, but every Kubernetes cluster serves it.
var errNoCore = errors.New("the server does not serve the core group")

// server is the API server whose resources are discovered.
type server struct {
	client *discovery.DiscoveryClient
}

// list discovers all group/versions. An error means that the whole discovery failed; errors of
// single group/versions are in the listing.
//
// It does not use client-go's ServerGroupsAndResources, which drops stale group/versions when none
// is fresh, and repeats the whole discovery for a single stale one.
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

// ready returns an error while the server is not ready or cannot be reached. A server
// that rejects the request, for example as forbidden, counts as ready.
func (s server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := s.client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	if err == nil || isPermanent(err) {
		return nil
	}
	return fmt.Errorf("server is not ready: %w", err)
}

// isPermanent reports whether a retry fails with the same error until the configuration of the
// cluster changes.
func isPermanent(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) ||
		apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
}
