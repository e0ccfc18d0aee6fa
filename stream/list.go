package stream

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/endpoints/request"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/access"
	"graphview.dev/stream/names"
)

// headOf returns the members that make an answer about a view a Kubernetes object.
func headOf(view View, kind string) streamv1alpha1.Head {
	name := view.Name()
	return streamv1alpha1.Head{
		APIVersion: groupVersion.String(), Kind: kind,
		Metadata: &streamv1alpha1.Metadata{Name: name.Name, Namespace: name.Namespace, UID: view.UID()},
	}
}

// itemOf returns a graph for a list. Its counts are not filtered by the user's rights.
func itemOf(view View) streamv1alpha1.Graph {
	status := view.Status()
	item := streamv1alpha1.Graph{
		Head: headOf(view, kind), Synced: status.Synced,
		Counts: &streamv1alpha1.Counts{Vertices: status.Vertices, Arcs: status.Arcs, Roots: status.Roots, Subscribers: status.Subscribers},
	}
	if err := view.Err(); err != nil {
		item.Message = err.Error()
	}
	return item
}

func (s *Server) serveList(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) error {
	table, err := negotiate(r)
	if err != nil {
		return err
	}
	selected, err := selection(info)
	if err == nil {
		err = onlyJSON(r)
	}
	if err == nil && !s.known() {
		// A client would take an incomplete list for the whole.
		err = refusal(names.GraphName{}, errStarting)
	}
	if err != nil {
		return err
	}
	var views []View
	for _, view := range s.options.Cluster.List() {
		if selected(view.Name()) {
			views = append(views, view)
		}
	}
	if table {
		return s.serveTable(w, r, views)
	}
	list := streamv1alpha1.GraphList{APIVersion: groupVersion.String(), Kind: listKind, Items: make([]streamv1alpha1.Graph, 0, len(views))}
	reads := s.mayReadGraphViews(r, info)
	for _, view := range views {
		item := itemOf(view)
		if reads {
			if text, known := s.options.Ineffective(view.Name()); known {
				item.Ineffective = &text
			}
		}
		list.Items = append(list.Items, item)
	}
	return s.answer(w, r, askedAgain, encode(list))
}

// mayReadGraphViews reports whether the user may also get the GraphViews that a list is of.
func (s *Server) mayReadGraphViews(r *http.Request, info *request.RequestInfo) bool {
	if s.options.Ineffective == nil {
		return false
	}
	who, _ := request.UserFrom(r.Context())
	may, err := s.access.decide(r.Context(), who, access.Question{
		Verb: "get", Group: "graphview.dev", Version: "v1alpha1", Resource: "graphviews", Namespace: info.Namespace, Name: info.Name,
	})
	return may && err == nil
}

// selection returns a filter of the views that a list asks for, by namespace and by the
// selectors of any Kubernetes list. Graphs have no labels.
func selection(info *request.RequestInfo) (func(graphview.Name) bool, error) {
	byField, err := fields.ParseAndTransformSelector(info.FieldSelector, func(field, value string) (string, string, error) {
		if field != "metadata.name" && field != "metadata.namespace" {
			return "", "", fmt.Errorf("field label not supported: %s", field)
		}
		return field, value, nil
	})
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("fieldSelector: %v", err))
	}
	byLabel, err := labels.Parse(info.LabelSelector)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("labelSelector: %v", err))
	}
	return func(name graphview.Name) bool {
		return (info.Namespace == "" || info.Namespace == name.Namespace) &&
			byLabel.Matches(labels.Set{}) &&
			byField.Matches(fields.Set{"metadata.name": name.Name, "metadata.namespace": name.Namespace})
	}, nil
}
