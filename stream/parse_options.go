package stream

import (
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
)

// parseOptions reads from a request's query which part of the graph it asks for, and how much
// of each object. The error is a Status.
func parseOptions(r *http.Request) (delivery.SubscribeOptions, error) {
	query := r.URL.Query()
	content, err := delivery.ParseContent(query.Get("content"))
	if err != nil {
		return delivery.SubscribeOptions{}, apierrors.NewBadRequest("?content= must be object, summary or none")
	}
	if text := query.Get("inferred"); text != "" && text != "true" && query.Get(impactOption) == "" {
		return delivery.SubscribeOptions{}, apierrors.NewBadRequest("?inferred= goes with ?impact=: of a graph, a client leaves out the arcs whose f has only paths that begin with " +
			graph.InferredField + ", and a view with spec.inferredReferences: Exclude has none")
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
	return delivery.SubscribeOptions{Content: content, Narrow: narrow}, nil
}
