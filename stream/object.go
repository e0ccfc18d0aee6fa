package stream

import (
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/rights"
	"graphview.dev/stream/names"
)

const (
	// objectSubresource of a graph is one of its objects.
	objectSubresource = "object"
	// objectKind is the kind of the answer.
	objectKind = "GraphObject"
	// maxKeyPart bounds each part of an object's key.
	maxKeyPart = 253
)

// serveObject answers with one object of a graph, and its arcs. A missing object and one
// that the user may not see have the same answer.
func (s *Server) serveObject(w http.ResponseWriter, r *http.Request, name names.GraphName) error {
	key, err := keyOf(r.URL.Query())
	if err != nil {
		return err
	}
	if err := onlyJSON(r); err != nil {
		return err
	}
	stream, view, _, err := s.beginGet(r, name)
	if stream == nil {
		return err
	}
	defer stream.Release()
	who, _ := request.UserFrom(r.Context())
	var found *delivery.Found
	graph, err := s.open(stream.Ctx, who, &opening{name: name, view: view, terms: rights.Terms{End: stream.End}})
	if err == nil {
		defer graph.Close()
		found, err = graph.view.Find(stream.Ctx, key, graph.lease)
	}
	switch {
	case err != nil:
		return s.failure(stream.Ctx, name, err)
	case found == nil:
		return apierrors.NewNotFound(groupVersion.WithResource(resource+"/"+objectSubresource).GroupResource(), key.Name)
	}
	head := encode(headOf(view, objectKind))
	more := "]}\n"
	if found.More {
		more = "],\"more\":true}\n"
	}
	return s.answer(w, r, notKept, head[:len(head)-1], []byte(","), found.Vertex, []byte(`,"out":[`), found.Out, []byte(`],"in":[`), found.In, []byte(more))
}

// keyOf reads the key of an object from a query.
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
