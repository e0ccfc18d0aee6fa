package stream

import (
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
)

// The parameters with which a graph that is read once has the objects with problems alone.
const (
	onlyOption = "only"
	// wholeOption names a namespace whose objects are all in the graph. It may be repeated.
	wholeOption  = "whole"
	onlyProblems = "problems"
	mostWhole    = 100
)

// parseOptions reads from a request's query which part of the graph it asks for, and how much
// of each object. The error is a Status.
func parseOptions(r *http.Request) (delivery.SubscribeOptions, error) {
	query := r.URL.Query()
	switch {
	case query.Has(onlyOption):
		return delivery.SubscribeOptions{}, apierrors.NewBadRequest("?only= goes with a graph that is read once as JSON, without watch, impact and format")
	case query.Has(atOption), query.Has(changesOption):
		return delivery.SubscribeOptions{}, apierrors.NewBadRequest("?at= and ?changes= go with a get as JSON, without watch, impact and format")
	}
	return parsePart(r)
}

// parseOnce is parseOptions for a graph that is read once.
func parseOnce(r *http.Request) (delivery.SubscribeOptions, error) {
	options, err := parsePart(r)
	query := r.URL.Query()
	whole := query[wholeOption]
	switch {
	case err != nil:
	case query.Get(onlyOption) != onlyProblems && (query.Has(onlyOption) || len(whole) > 0):
		err = apierrors.NewBadRequest("?only= must be problems, and ?whole=NAMESPACE goes with it")
	case len(whole) > mostWhole:
		err = apierrors.NewBadRequest("at most " + strconv.Itoa(mostWhole) + " namespaces can be ?whole=; without ?only= the graph has all")
	case query.Has(onlyOption) && (options.Narrow != nil || query.Has(atOption)):
		err = apierrors.NewBadRequest("?only= does not go with ?root= and ?at=, which have other parts of the graph")
	case query.Has(onlyOption):
		options.Only = graphview.Notable(whole)
	}
	return options, err
}

// parsePart reads the options that go with each other.
func parsePart(r *http.Request) (delivery.SubscribeOptions, error) {
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
