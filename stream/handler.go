package stream

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/graphview"
)

// newHandler puts the health endpoints before the guard and all else behind it.
func (s *Server) newHandler() http.Handler {
	documents := s.documents()
	rest := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// What is served is what was authorized: both go by this and not by the URL.
		info, ok := request.RequestInfoFrom(r.Context())
		switch {
		case !ok:
			s.refuse(w, r, apierrors.NewInternalError(errors.New("no request info")))
		case info.IsResourceRequest:
			s.serveGraphs(w, r, info)
		case info.Path == connectionPath:
			s.serveConnection(w, r)
		default:
			s.refuse(w, r, notFound(r))
		}
	})
	// Discovery is the same for all and asks the API server nothing: while it cannot
	// be had, namespaces of the whole cluster are not deleted.
	discovery := func(info *request.RequestInfo) http.Handler {
		text, ok := documents[strings.TrimRight(info.Path, "/")]
		if !ok || info.IsResourceRequest {
			return nil
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serveDocument(w, r, text) })
	}
	guarded := s.access.guard(guarded{open: discovery, rest: rest, refuse: s.refuse, admit: s.withOwner}, s.metrics, s.options.Logger)
	return s.withPanicsLogged(withBaseContext(withBodyDeadline(s.withAllowedOrigins(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/readyz", "/livez", "/healthz":
			s.serveHealth(w, r)
		default:
			if s.options.Pages != nil && (r.URL.Path == "/dashboard" || strings.HasPrefix(r.URL.Path, "/dashboard/")) {
				closeStranger(w, r)
				s.options.Pages.ServeHTTP(w, r)
				return
			}
			guarded.ServeHTTP(w, r)
		}
	})))))
}

func (s *Server) serveHealth(w http.ResponseWriter, r *http.Request) {
	closeStranger(w, r)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	// Still alive, but new requests should go elsewhere.
	if s.stopping.Load() && r.URL.Path == "/readyz" {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, "stopping")
		return
	}
	fmt.Fprint(w, "ok")
}

func (s *Server) serveGraphs(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) {
	if info.APIGroup != groupVersion.Group || info.APIVersion != groupVersion.Version || info.Subresource != "" && !ofObject(info) {
		s.refuse(w, r, notFound(r))
		return
	}
	switch {
	case info.Resource == resource:
	case info.Resource == streams && info.Namespace == "" && info.Name == "":
		s.serveStreams(w, r, info)
		return
	default:
		s.refuse(w, r, notFound(r))
		return
	}
	if r.Method != http.MethodGet {
		s.refuse(w, r, apierrors.NewMethodNotSupported(groupResource, info.Verb))
		return
	}
	name := graphview.Name{Namespace: info.Namespace, Name: info.Name}
	if ofObject(info) {
		s.serveObject(w, r, name)
		return
	}
	switch info.Verb {
	case "get":
		s.serveGraph(w, r, name)
	case "list":
		s.serveList(w, r, info)
	case "watch":
		s.serveWatch(w, r, name)
	default:
		s.refuse(w, r, apierrors.NewMethodNotSupported(groupResource, info.Verb))
	}
}

// ofObject tells whether a request is about an object of a graph.
func ofObject(info *request.RequestInfo) bool {
	return info.Resource == resource && info.Subresource == objects && info.Verb == "get"
}

func (s *Server) serveGraph(w http.ResponseWriter, r *http.Request, name graphview.Name) {
	wanted, err := negotiateForm(r)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	view, err := s.served(name)
	switch {
	case err != nil:
		s.refuse(w, r, refusal(name, err))
	case wanted.table:
		s.serveTable(w, r, []View{view})
	case wanted.format != "":
		s.serveExport(w, r, view, wanted.format)
	default:
		s.serveSnapshot(w, r, view)
	}
}

func notFound(r *http.Request) error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, strings.ToLower(r.Method), groupResource, "", "", 0, true)
}

func methodNotAllowed(r *http.Request) error {
	return apierrors.NewGenericServerResponse(http.StatusMethodNotAllowed, strings.ToLower(r.Method), groupResource, "", "", 0, true)
}

// encode renders one of our own types, which always have a JSON form.
func encode(document any) []byte {
	text, err := json.Marshal(document)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", document, err))
	}
	return text
}

func writeText(w http.ResponseWriter, text []byte) {
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-cache, private")
	// A peer that left has nobody to be told.
	_, _ = w.Write(text)
}
