package stream

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/names"
)

const (
	// clusters is the resource of the clusters of a fleet. Discovery does not list it: its
	// paths are those of the cluster's own server, below a prefix.
	clusters = "clusters"
	// proxySubresource is the one under which API servers let requests take as long as they
	// need.
	proxySubresource = "proxy"
)

// Fleet has the graphs of other clusters. Its methods may be called by any goroutine.
type Fleet interface {
	// Views asks a cluster for its views: all, those of a namespace, or one. It waits for a
	// route to the cluster. The user's verb is what it does with them. Each view is for this
	// user alone, about whom the cluster decides; its Access is not used. The error is a
	// *delivery.ClosedError, or ctx's.
	Views(ctx context.Context, cluster string, who user.Info, verb, namespace, name string) ([]View, error)
	// Clusters returns the clusters, by name.
	Clusters() []ClusterStatus
}

// rightToCluster is the right to open graphs of a cluster, in which the cluster decides about
// each of them.
func rightToCluster(name string) question {
	return question{verb: "get", group: groupVersion.Group, version: groupVersion.Version, resource: clusters, subresource: proxySubresource, name: name}
}

// onlyDeclared is the reason why there are no ad-hoc views of another cluster.
const onlyDeclared = "another cluster serves only graphs that a GraphView declares"

type clusterKey struct{}

// clusterFrom returns the cluster whose graphs a request is about; "" for the server's own.
func clusterFrom(ctx context.Context) string {
	cluster, _ := ctx.Value(clusterKey{}).(string)
	return cluster
}

// requestInfos parses the paths of the server, with and without the prefix of a cluster.
var requestInfos = &request.RequestInfoFactory{APIPrefixes: sets.NewString("apis"), GrouplessAPIPrefixes: sets.NewString()}

// serveCluster answers a request below the path of another cluster, of a user who may get
// that cluster. The rest of the path is that of the cluster's own server.
func (s *Server) serveCluster(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) {
	path, err := pathWithin(r.URL, info.Name)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	switch {
	case s.options.Fleet == nil || clusterFrom(r.Context()) != "":
		s.refuse(w, r, notFound(r))
		return
	case r.Method != http.MethodGet:
		s.refuse(w, r, methodNotAllowed(r))
		return
	}
	inner := r.Clone(context.WithValue(r.Context(), clusterKey{}, info.Name))
	inner.URL.Path, inner.URL.RawPath = path, ""
	within, err := requestInfos.NewRequestInfo(inner)
	if err != nil {
		s.refuse(w, r, apierrors.NewBadRequest(err.Error()))
		return
	}
	inner = inner.WithContext(request.WithRequestInfo(inner.Context(), within))
	if document := s.discovery(within); document != nil {
		document.ServeHTTP(w, inner)
		return
	}
	s.serveAuthorized(w, inner)
}

// pathWithin returns the path behind the prefix of a cluster. A path that a proxy could read
// in another way than the API server, which has authorized it, is refused.
func pathWithin(u *url.URL, cluster string) (string, error) {
	prefix := versionPath + "/" + clusters + "/" + cluster + "/" + proxySubresource
	path, ok := strings.CutPrefix(u.EscapedPath(), prefix)
	lower := strings.ToLower(path)
	switch {
	case !ok, path != "" && path[0] != '/':
	case strings.Contains(path, "//"), strings.Contains(lower, "%2f"), strings.Contains(lower, "%2e"), strings.Contains(lower, "%5c"), strings.Contains(path, "/"+clusters+"/"):
	case strings.Contains(path+"/", "/./"), strings.Contains(path+"/", "/../"):
	case path == "":
		return "/", nil
	default:
		unescaped, err := url.PathUnescape(path)
		if err == nil {
			return unescaped, nil
		}
	}
	return "", apierrors.NewBadRequest("the path behind the cluster must be one of its server, without dot segments, empty segments, encoded slashes, or another cluster")
}

// patience returns the context in which a request waits for a route to another cluster.
func (s *Server) patience(r *http.Request) (context.Context, context.CancelFunc) {
	wait := s.options.ClusterWait
	if asked, err := time.ParseDuration(r.URL.Query().Get("timeout")); err == nil && asked > 0 {
		wait = min(asked, maxClusterWait)
	}
	return context.WithTimeoutCause(r.Context(), wait, errUnreachable)
}

// findRemote returns a view of another cluster that can be served.
func (s *Server) findRemote(ctx context.Context, who user.Info, verb string, name names.GraphName) (View, error) {
	if s.options.Fleet == nil {
		return nil, errNotFound
	}
	views, err := s.options.Fleet.Views(ctx, name.Cluster, who, verb, name.Namespace, name.Name)
	switch {
	case err != nil:
		return nil, unreachable(ctx, err)
	case len(views) != 1 || views[0].Name() != name.View():
		return nil, errNotFound
	}
	if err := views[0].Err(); err != nil {
		return nil, err
	}
	return views[0], nil
}

// declared returns the views of a cluster, those of another one as far as the user of the
// request may list them there.
func (s *Server) declared(r *http.Request, cluster, namespace string) ([]View, error) {
	if cluster == "" {
		return s.options.Cluster.List(), nil
	}
	who, _ := request.UserFrom(r.Context())
	ctx, cancel := s.patience(r)
	defer cancel()
	views, err := s.options.Fleet.Views(ctx, cluster, who, "list", namespace, "")
	return views, unreachable(ctx, err)
}

// maxClusterWait bounds how long a request may wait for a route to another cluster.
const maxClusterWait = 5 * time.Minute

var errUnreachable = &delivery.ClosedError{Reason: reason.ClusterUnreachable, Message: "the cluster is not connected to this hub now; try again later"}

// unreachable replaces the error of a wait that has taken too long.
func unreachable(ctx context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) && errors.Is(context.Cause(ctx), errUnreachable) {
		return errUnreachable
	}
	return err
}
