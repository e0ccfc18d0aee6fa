package resources

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

const (
	// discoveryTimeout bounds one whole discovery, requestTimeout one
	// group/version of it, so that an extension server that hangs fails alone.
	discoveryTimeout = 30 * time.Second
	requestTimeout   = 5 * time.Second

	// parallelVersions bounds the requests in flight where a server has no
	// aggregated discovery and each group/version costs one.
	parallelVersions = 8
)

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
	groups, byVersion, failed, err := s.client.GroupsAndMaybeResourcesWithContext(ctx)
	if err != nil {
		return listing{}, fmt.Errorf("discover groups: %w", err)
	}
	l := listing{served: make(map[schema.GroupVersion][]Resource), failed: failed}
	if byVersion != nil {
		for gv, list := range byVersion {
			l.served[gv] = watchable(gv, list.APIResources)
		}
	} else if err := s.listVersions(ctx, groups, l); err != nil {
		return listing{}, err
	}
	core := schema.GroupVersion{Version: "v1"}
	if _, known := l.failed[core]; !known && len(l.served[core]) == 0 {
		l.failed[core] = errNoCore
	}
	return l, nil
}

// listVersions asks for each group/version on its own: the discovery of servers
// without the aggregated kind.
func (s server) listVersions(ctx context.Context, groups *metav1.APIGroupList, l listing) error {
	var (
		mu   sync.Mutex
		work errgroup.Group
	)
	work.SetLimit(parallelVersions)
	for _, group := range groups.Groups {
		if excluded(group.Name) {
			continue
		}
		for _, version := range group.Versions {
			gv := schema.GroupVersion{Group: group.Name, Version: version.Version}
			work.Go(func() error {
				list, err := s.listVersion(ctx, gv)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					l.failed[gv] = err
				} else {
					l.served[gv] = watchable(gv, list.APIResources)
				}
				// Cut off as a whole, versions fail with us and not by themselves.
				return ctx.Err()
			})
		}
	}
	if err := work.Wait(); err != nil {
		return fmt.Errorf("discover resources: %w", err)
	}
	return nil
}

func (s server) listVersion(ctx context.Context, gv schema.GroupVersion) (*metav1.APIResourceList, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return s.client.ServerResourcesForGroupVersionWithContext(ctx, gv.String())
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
