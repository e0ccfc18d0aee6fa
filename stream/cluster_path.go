package stream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/admission"
	"graphview.dev/stream/fleet/proxy"
	"graphview.dev/stream/fleet/tunnel"
	"graphview.dev/stream/names"
	"graphview.dev/stream/transport"
)

const (
	// clusters is the resource of the clusters of a fleet. Discovery does not list it: its
	// paths are those of the cluster's own server, below a prefix.
	clusters = "clusters"
	// proxySubresource is the one under which API servers let requests take as long as they
	// need.
	proxySubresource = "proxy"
)

// rightToCluster is the right to open graphs of a cluster, in which the cluster decides about
// each of them.
func rightToCluster(name string) question {
	return question{verb: "get", group: groupVersion.Group, version: groupVersion.Version, resource: clusters, subresource: proxySubresource, name: name}
}

// requestInfos parses the paths of the server.
var requestInfos = &request.RequestInfoFactory{APIPrefixes: sets.NewString("apis"), GrouplessAPIPrefixes: sets.NewString()}

// serveCluster passes a request below the path of another cluster to that cluster's own
// server. The user may get that cluster, and the cluster decides about the rest of the path.
func (s *Server) serveCluster(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) error {
	name := names.GraphName{Cluster: info.Name}
	path, err := pathWithin(r.URL, info.Name)
	switch {
	case s.options.Fleet == nil:
		err = notFound(r)
	case err != nil:
	case r.Method != http.MethodGet:
		err = methodNotAllowed(r)
	case isUpgrade(r):
		err = s.checkOrigin(r, name)
	}
	if err != nil {
		return err
	}
	who, _ := request.UserFrom(r.Context())
	stream, err := s.reserve(r.Context(), who)
	if err != nil {
		return err
	}
	defer stream.Release()
	lease := s.permissions.Acquire(stream.Ctx, who, name, s.termsOf(r, rightToCluster(info.Name), stream.End))
	defer lease.Release()
	subscribers := s.metrics.subscribers.WithLabelValues(clusterTransport)
	subscribers.Inc()
	defer subscribers.Dec()

	response := transport.NewResponse(w)
	defer response.CutAfter(stream.Hard)()
	pending := admission.PendingWrite{Cut: response.Cut}
	account := s.options.Ledger.Account(budget.UserOwner(who))
	defer account.Close()
	wait, cancel := s.patience(stream.Ctx, r.URL.Query().Get("timeout"))
	defer cancel()
	err = proxy.Serve(w, r.WithContext(stream.Ctx), proxy.Options{
		Path: path, User: who, Transport: s.transportTo(wait, info.Name, r.URL.Query().Get("since")),
		// While the client takes bytes, others may fill the window of the tunnel's stream.
		Writing: func() func() {
			if account.Set(budget.Messages, tunnel.Window) != nil {
				response.Cut()
			}
			s.writes.BeginUnread(&pending, tunnel.Window)
			within, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), s.timing.write)
			stop := response.CutAfter(within)
			return func() {
				stop()
				cancel()
				s.writes.End(&pending)
				account.Release(budget.Messages)
			}
		},
	})
	if err != nil {
		return refusalOfCluster(stream.Ctx, name, err)
	}
	return nil
}

// transportTo sends requests to a cluster. It waits for a route as long as a context.
func (s *Server) transportTo(wait context.Context, cluster, since string) *proxy.Transport {
	return &proxy.Transport{Route: func() (proxy.Route, error) {
		route, err := s.options.Fleet.Route(wait, cluster, since)
		return route, unreachable(wait, err)
	}}
}

// refusalOfCluster returns the Status for a request that another cluster has not answered.
func refusalOfCluster(ctx context.Context, name names.GraphName, err error) error {
	closed, ok := errors.AsType[*delivery.ClosedError](err)
	switch {
	case ok && closed.Reason == reason.NotFound:
		return apierrors.NewNotFound(groupVersion.WithResource(clusters).GroupResource(), name.Cluster)
	case ok:
		return refusal(name, closed)
	case errors.As(context.Cause(ctx), &closed): // a right that was lost, or the server stops
		return refusal(name, closed)
	case errors.Is(err, proxy.ErrUser):
		return status(http.StatusForbidden, metav1.StatusReasonForbidden, name, err.Error())
	case errors.Is(err, proxy.ErrFormat):
		return status(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable, name, err.Error())
	case errors.Is(err, proxy.ErrAnswer):
		return status(http.StatusBadGateway, metav1.StatusReasonInternalError, name, fmt.Sprintf("cluster %q: %v", name.Cluster, err))
	default:
		return refusal(name, errLost)
	}
}

// pathWithin returns the path behind the prefix of a cluster. A path that a proxy could read
// in another way than the API server, which has authorized it, is refused, and so are the
// clusters of the cluster.
func pathWithin(u *url.URL, cluster string) (string, error) {
	prefix := versionPath + "/" + clusters + "/" + cluster + "/" + proxySubresource
	path, ok := strings.CutPrefix(u.EscapedPath(), prefix)
	lower := strings.ToLower(path)
	switch {
	case !ok, path != "" && path[0] != '/':
	case strings.Contains(path, "//"), strings.Contains(lower, "%2f"), strings.Contains(lower, "%2e"), strings.Contains(lower, "%5c"):
	case strings.Contains(path+"/", "/./"), strings.Contains(path+"/", "/../"):
	case path == "":
		return "/", nil
	default:
		unescaped, err := url.PathUnescape(path)
		if err == nil && !strings.HasPrefix(unescaped+"/", versionPath+"/"+clusters+"/") {
			return unescaped, nil
		}
	}
	return "", apierrors.NewBadRequest("the path behind the cluster must be one of its server, without dot segments, empty segments, encoded slashes, or another cluster")
}

// patience returns the context in which a request waits for a route to another cluster. A
// client may ask for another time.
func (s *Server) patience(ctx context.Context, asked string) (context.Context, context.CancelFunc) {
	wait := s.options.ClusterWait
	if asked, err := time.ParseDuration(asked); err == nil && asked > 0 {
		wait = min(asked, maxClusterWait)
	}
	return context.WithTimeoutCause(ctx, wait, errUnreachable)
}

// maxClusterWait bounds how long a request may wait for a route to another cluster.
const maxClusterWait = 5 * time.Minute

var (
	errUnreachable = &delivery.ClosedError{Reason: reason.ClusterUnreachable, Message: "the cluster is not connected to this hub now; try again later"}
	// errLost ends a stream whose route has ended. Clients reconnect and continue.
	errLost = &delivery.ClosedError{Reason: reason.Stopping, Message: "the connection to the cluster was lost; reconnect to continue"}
)

// unreachable replaces the error of a wait that has taken too long.
func unreachable(ctx context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) && errors.Is(context.Cause(ctx), errUnreachable) {
		return errUnreachable
	}
	return err
}
