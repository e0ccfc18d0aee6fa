package stream

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/stream/names"
)

// newHandler returns the handler of all paths. Health and the page need no authentication.
func (s *Server) newHandler() http.Handler {
	filtered := s.filtered(s.access.authentication())
	return s.withPanicsLogged(withBaseContext(withBodyDeadline(s.withAllowedOrigins(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/readyz", "/livez", "/healthz":
			s.serveHealth(w, r)
		default:
			if s.options.Pages != nil && (r.URL.Path == "/dashboard" || strings.HasPrefix(r.URL.Path, "/dashboard/")) {
				closeUnauthenticated(w, r)
				s.options.Pages.ServeHTTP(w, r)
				return
			}
			filtered.ServeHTTP(w, r)
		}
	})))))
}

// HandlerFor returns the handler of graphs for requests that another authenticator
// authenticates, such as those of a hub. Streams that it opened end only with Run.
func (s *Server) HandlerFor(authenticate authenticator.Request) http.Handler {
	return s.withPanicsLogged(withBaseContext(withBodyDeadline(s.filtered(markDelegated(authenticate)))))
}

// filtered returns the handler of all paths that need authentication.
func (s *Server) filtered(authenticate authenticator.Request) http.Handler {
	return s.access.filter(handlers{
		authenticate: authenticate, open: s.discovery, rest: s.serveAuthorized, answering: s.answering,
		admit: func(next http.Handler) http.Handler { return s.withOwner(s.withRequestCharged(next)) },
	}, s.metrics, s.options.Logger)
}

// serveAuthorized answers a request that the user has a right to.
func (s *Server) serveAuthorized(w http.ResponseWriter, r *http.Request) error {
	// Authorization used the same request info, so the URL is not parsed again.
	info, ok := request.RequestInfoFrom(r.Context())
	switch {
	case !ok:
		return apierrors.NewInternalError(errors.New("no request info"))
	case ofCluster(info):
		return s.serveCluster(w, r, info)
	case info.IsResourceRequest:
		return s.serveGraphs(w, r, info)
	case info.Path == connectionPath:
		return s.serveConnection(w, r)
	default:
		return notFound(r)
	}
}

// ofCluster reports whether a request is about another cluster.
func ofCluster(info *request.RequestInfo) bool {
	return info.IsResourceRequest && info.APIGroup == groupVersion.Group && info.APIVersion == groupVersion.Version &&
		info.Resource == clusters && info.Subresource == proxySubresource && info.Namespace == ""
}

func (s *Server) serveHealth(w http.ResponseWriter, r *http.Request) {
	closeUnauthenticated(w, r)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	// Alive, but new requests should go to another replica.
	if s.stopping.Load() && r.URL.Path == "/readyz" {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, "stopping")
		return
	}
	fmt.Fprint(w, "ok")
}

func (s *Server) serveGraphs(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) error {
	if info.APIGroup != groupVersion.Group || info.APIVersion != groupVersion.Version || info.Subresource != "" && !ofObject(info) {
		return notFound(r)
	}
	switch {
	case info.Resource == resource:
	case info.Resource == streams && info.Namespace == "" && info.Name == "":
		return s.serveStreams(w, r, info)
	case info.Resource == clusters && info.Namespace == "" && info.Verb == "list":
		return s.serveClusters(w, r)
	default:
		return notFound(r)
	}
	if r.Method != http.MethodGet {
		return apierrors.NewMethodNotSupported(groupResource, info.Verb)
	}
	name := names.GraphName{Namespace: info.Namespace, Name: info.Name}
	if ofObject(info) {
		return s.serveObject(w, r, name)
	}
	switch info.Verb {
	case "get":
		return s.serveGraph(w, r, name)
	case "list":
		return s.serveList(w, r, info)
	case "watch":
		return s.serveWatch(w, r, name)
	default:
		return apierrors.NewMethodNotSupported(groupResource, info.Verb)
	}
}

// ofObject reports whether a request asks for an object of a graph.
func ofObject(info *request.RequestInfo) bool {
	return info.Resource == resource && info.Subresource == objectSubresource && info.Verb == "get"
}

func (s *Server) serveGraph(w http.ResponseWriter, r *http.Request, name names.GraphName) error {
	if r.URL.Query().Has(impactOption) {
		return s.serveImpact(w, r, name)
	}
	if r.URL.Query().Has(changesOption) {
		return s.serveChanges(w, r, name)
	}
	wanted, err := negotiateForm(r)
	if err != nil {
		return err
	}
	view, err := s.find(name)
	switch {
	case err != nil:
		return refusal(name, err)
	case wanted.table:
		return s.serveTable(w, r, []View{view})
	case wanted.format != "":
		return s.serveExport(w, r, name, wanted.format)
	default:
		return s.serveSnapshot(w, r, name)
	}
}

func notFound(r *http.Request) error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, strings.ToLower(r.Method), groupResource, "", "", 0, true)
}

func methodNotAllowed(r *http.Request) error {
	return apierrors.NewGenericServerResponse(http.StatusMethodNotAllowed, strings.ToLower(r.Method), groupResource, "", "", 0, true)
}

// encode marshals one of the types of this package, which never fails.
func encode(document any) []byte {
	text, err := json.Marshal(document)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", document, err))
	}
	return text
}
