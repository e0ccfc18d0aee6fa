package stream

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"graphview.dev/graphview/delivery"
)

// contentOf is what a request wants to be sent of each object. The error is a
// Status.
func contentOf(r *http.Request) (delivery.Content, error) {
	content, err := delivery.ParseContent(r.URL.Query().Get("content"))
	if err != nil {
		return 0, apierrors.NewBadRequest("?content= must be object, summary or none")
	}
	return content, nil
}
