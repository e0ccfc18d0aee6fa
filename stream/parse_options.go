package stream

import (
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"graphview.dev/graphview/delivery"
)

// parseOptions reads from a request's query which part of the graph it asks for, with which
// references, and how much of each object. The error is a Status.
func parseOptions(r *http.Request) (delivery.SubscribeOptions, error) {
	query := r.URL.Query()
	content, err := delivery.ParseContent(query.Get("content"))
	if err != nil {
		return delivery.SubscribeOptions{}, apierrors.NewBadRequest("?content= must be object, summary or none")
	}
	exclude := false
	switch query.Get("inferred") {
	case "", "true":
	case "false":
		exclude = true
	default:
		return delivery.SubscribeOptions{}, apierrors.NewBadRequest("?inferred= must be true, or false to leave out references that are only inferred")
	}
	depth := 0
	if text := query.Get("depth"); text != "" {
		if depth, err = strconv.Atoi(text); err != nil {
			return delivery.SubscribeOptions{}, apierrors.NewBadRequest("?depth= must be a number")
		}
	}
	narrow, err := delivery.ParseNarrowing(query["root"], query.Get("direction"), depth)
	if err != nil {
		return delivery.SubscribeOptions{}, apierrors.NewBadRequest("?root=, ?direction=, ?depth=: " + err.Error())
	}
	return delivery.SubscribeOptions{Content: content, ExcludeInferred: exclude, Narrow: narrow}, nil
}
