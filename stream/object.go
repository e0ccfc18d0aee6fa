package stream

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/graphview"
	"graphview.dev/graphview/graph"
	"graphview.dev/stream/rights"
	"graphview.dev/stream/transport"
)

const (
	// objects is the subresource of a graph that one of its objects is read by.
	objects = "object"
	// objectKind is what it answers with.
	objectKind = "GraphObject"
	// maxKeyPart bounds the parts of an object's name.
	maxKeyPart = 253
)

// serveObject answers with one object of a graph, and its arcs. What there is not,
// and what the subscriber may not see, is not found alike.
func (s *Server) serveObject(w http.ResponseWriter, r *http.Request, name graphview.Name) {
	key, err := keyOf(r.URL.Query())
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	if err := onlyJSON(r); err != nil {
		s.refuse(w, r, err)
		return
	}
	view, err := s.served(name)
	if err != nil {
		s.refuse(w, r, refusal(name, err))
		return
	}
	who, _ := request.UserFrom(r.Context())
	stream, err := s.registry.reserve(r.Context(), who)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	defer stream.release()
	if _, err := s.waitSynced(stream.ctx, view); err != nil {
		s.abandon(w, r, stream.ctx, view, err)
		return
	}
	held := s.permissions.Acquire(stream.ctx, who, name, rights.Terms{End: stream.end})
	defer held.Release()
	found, err := view.Find(stream.ctx, key, held)
	switch {
	case err != nil:
		s.abandon(w, r, stream.ctx, view, err)
		return
	case found == nil:
		s.refuse(w, r, apierrors.NewNotFound(groupVersion.WithResource(resource+"/"+objects).GroupResource(), key.Name))
		return
	}
	about := objectOf(view)
	about.Kind = objectKind
	head := encode(about)
	more := "]}\n"
	if found.More {
		more = "],\"more\":true}\n"
	}
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	ctx, cancel := context.WithTimeout(stream.hard, s.timing.write)
	defer cancel()
	// An error means that the peer is gone.
	_ = transport.NewResponse(w).Write(ctx, head[:len(head)-1], []byte(","), found.Vertex, []byte(`,"out":[`), found.Out, []byte(`],"in":[`), found.In, []byte(more))
}

// keyOf reads the name of an object.
func keyOf(query url.Values) (graph.Key, error) {
	key := graph.Key{
		Resource:  graph.Resource{Group: query.Get("group"), Version: query.Get("version"), Resource: query.Get("resource")},
		Namespace: query.Get("namespace"), Name: query.Get("name"),
	}
	switch {
	case key.Resource.Resource == "" || key.Name == "":
		return key, apierrors.NewBadRequest("?resource= and ?name= say which object; beside them there are group, version and namespace")
	case strings.ContainsFunc(key.Group+key.Version+key.Resource.Resource+key.Namespace+key.Name, func(r rune) bool { return r < ' ' || r == 0x7f }),
		max(len(key.Group), len(key.Version), len(key.Resource.Resource), len(key.Namespace), len(key.Name)) > maxKeyPart:
		return key, apierrors.NewBadRequest("this cannot be the name of an object")
	}
	return key, nil
}
