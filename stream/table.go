package stream

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
)

// serveTable answers with the table that kubectl prints.
func (s *Server) serveTable(w http.ResponseWriter, r *http.Request, views []View) error {
	include := metav1.IncludeObjectPolicy(r.URL.Query().Get("includeObject"))
	switch include {
	case "", metav1.IncludeMetadata, metav1.IncludeNone, metav1.IncludeObject:
	default:
		return apierrors.NewBadRequest(fmt.Sprintf("unrecognized includeObject value: %q", include))
	}
	table := metav1.Table{
		TypeMeta: metav1.TypeMeta{Kind: "Table", APIVersion: metav1.SchemeGroupVersion.String()},
		ColumnDefinitions: []metav1.TableColumnDefinition{
			{Name: "Name", Type: "string", Format: "name", Description: "The view's name."},
			{Name: "Ready", Type: "boolean", Description: "Every selected resource has synced or was given up for now."},
			{Name: "Objects", Type: "integer", Description: "Visible objects of the view."},
			{Name: "References", Type: "integer", Description: "Visible references of the view."},
			{Name: "Roots", Type: "integer", Description: "Root objects of the view."},
			{Name: "Subscribers", Type: "integer", Description: "Open subscriptions."},
			{Name: "Message", Type: "string", Priority: 1, Description: "Why the graph is not served."},
		},
		Rows: make([]metav1.TableRow, 0, len(views)),
	}
	for _, view := range views {
		item := itemOf(view)
		table.Rows = append(table.Rows, metav1.TableRow{
			Cells:  []any{item.Metadata.Name, item.Synced, item.Vertices, item.Arcs, item.Roots, item.Subscribers, item.Message},
			Object: rowObject(&item, include),
		})
	}
	return s.answer(w, r, askedAgain, encode(table))
}

func rowObject(item *streamv1alpha1.Graph, include metav1.IncludeObjectPolicy) runtime.RawExtension {
	switch include {
	case metav1.IncludeNone:
		return runtime.RawExtension{}
	case metav1.IncludeObject:
		return runtime.RawExtension{Raw: encode(item)}
	default:
		about := item.Metadata
		return runtime.RawExtension{Object: &metav1.PartialObjectMetadata{
			TypeMeta:   metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: metav1.SchemeGroupVersion.String()},
			ObjectMeta: metav1.ObjectMeta{Name: about.Name, Namespace: about.Namespace, UID: types.UID(about.UID)},
		}}
	}
}
