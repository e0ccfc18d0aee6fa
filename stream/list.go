package stream

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/graphview"
	"graphview.dev/graphview/access"
	"graphview.dev/stream/names"
)

// object has the fields that make a graph a Kubernetes object.
type object struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
}

type metadata struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	UID       string `json:"uid,omitempty"`
}

func objectOf(view View) object {
	name := view.Name()
	return object{
		APIVersion: groupVersion.String(), Kind: kind,
		Metadata: metadata{Name: name.Name, Namespace: name.Namespace, UID: view.UID()},
	}
}

// graphList is the list of graphs: their names, and the counts of the views, which are not
// filtered by the user's rights.
type graphList struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Metadata   metav1.ListMeta `json:"metadata"`
	Items      []listItem      `json:"items"`
}

type listItem struct {
	object
	Vertices    int  `json:"vertices"`
	Arcs        int  `json:"arcs"`
	Roots       int  `json:"roots"`
	Subscribers int  `json:"subscribers"`
	Synced      bool `json:"synced,omitempty"`
	// Message says why the graph is not served.
	Message string `json:"message,omitempty"`
	// Ineffective says which parts of the GraphView have no effect. Nil: the user may not get
	// the GraphView, or it is not known yet.
	Ineffective *string `json:"ineffective,omitempty"`
}

func itemOf(view View) listItem {
	status := view.Status()
	item := listItem{
		object: objectOf(view), Vertices: status.Vertices, Arcs: status.Arcs, Roots: status.Roots,
		Subscribers: status.Subscribers, Synced: status.Synced,
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
	list := graphList{APIVersion: groupVersion.String(), Kind: listKind, Items: make([]listItem, 0, len(views))}
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
