package stream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/api/reason"
	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/mux"
	"graphview.dev/stream/names"
	"graphview.dev/stream/transport"
)

const (
	// changesOption names the object whose changes a get asks for, "" for all.
	changesOption = "changes"
	// atOption has the time of a graph of the past.
	atOption = "at"
	// changesKind is the kind of the answer.
	changesKind = "GraphChanges"
	// historyDetail is the kind in the details of the Status of a server without a history.
	historyDetail = "history"
	// mostChanges bounds the changes of an answer, and fewChanges is the limit without a parameter.
	mostChanges, fewChanges = 1000, 200
	// changesTake bounds the search for an answer.
	changesTake = 10 * time.Second
	// clockSkew is how far the clock of a client may be ahead.
	clockSkew = time.Minute
)

// errNoHistory is the answer of a server without a history.
func errNoHistory() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Details: &metav1.StatusDetails{Kind: historyDetail},
		Message: "the operator keeps no history of changes; set history.enabled=true in the values of its chart, or the flag --history",
	}}
}

// serveChanges answers with the changes of a graph.
func (s *Server) serveChanges(w http.ResponseWriter, r *http.Request, name names.GraphName) error {
	question, err := parseChanges(r)
	if err != nil {
		return err
	}
	return s.serveAnswer(w, r, name, func(ctx context.Context, graph *openGraph, _ bool) (any, error) {
		answer, err := s.changesOf(ctx, graph, question)
		if err == nil {
			answer.Head = headOf(graph.view, changesKind)
		}
		return answer, err
	})
}

// parseChanges reads a question from a query. The error is a Status.
func parseChanges(r *http.Request) (delivery.ChangesQuery, error) {
	if err := onlyJSON(r); err != nil {
		return delivery.ChangesQuery{}, err
	}
	query := r.URL.Query()
	if query.Has(atOption) {
		return delivery.ChangesQuery{}, apierrors.NewBadRequest("?changes= does not go with ?at=: leave one of them out; changes until a time have ?until=")
	}
	asked := streamv1alpha1.ChangesQuery{Object: query.Get(changesOption), Since: query.Get("since"), Until: query.Get("until")}
	var err error
	if text := query.Get("limit"); text != "" {
		if asked.Limit, err = strconv.Atoi(text); err != nil || asked.Limit == 0 {
			return delivery.ChangesQuery{}, apierrors.NewBadRequest(fmt.Sprintf("?limit= must be a number from 1 to %d", mostChanges))
		}
	}
	if text := query.Get("alone"); text != "" {
		if asked.Alone, err = strconv.ParseBool(text); err != nil {
			return delivery.ChangesQuery{}, apierrors.NewBadRequest("?alone= must be true or false")
		}
	}
	question, err := changesQuery(&asked, time.Now())
	if err != nil {
		return question, apierrors.NewBadRequest(err.Error())
	}
	return question, nil
}

// changesQuery checks a question.
func changesQuery(asked *streamv1alpha1.ChangesQuery, now time.Time) (q delivery.ChangesQuery, err error) {
	q = delivery.ChangesQuery{Alone: asked.Alone, Limit: asked.Limit}
	if asked.Object != "" {
		key, err := delivery.ParseObject(asked.Object)
		if err != nil {
			return q, fmt.Errorf("changes: %w", err)
		}
		q.Object = &key
	}
	if q.Limit == 0 {
		q.Limit = fewChanges
	}
	if q.Limit < 0 || q.Limit > mostChanges {
		return q, fmt.Errorf("limit must be from 1 to %d", mostChanges)
	}
	if asked.Since != "" {
		if q.Since, err = parseMoment(asked.Since, now); err != nil {
			return q, fmt.Errorf("since: %w", err)
		}
	}
	if asked.Until != "" {
		if q.Until, err = parseMoment(asked.Until, now); err != nil {
			return q, fmt.Errorf("until: %w", err)
		}
		if q.Until = max(q.Until, 1); q.Until <= q.Since {
			return q, errors.New("since must be before until: since is the older time, so exchange them")
		}
	}
	return q, nil
}

// changesOf answers a question. The error is a Status, a *delivery.ClosedError, or ctx's.
func (s *Server) changesOf(ctx context.Context, opened *openGraph, question delivery.ChangesQuery) (*streamv1alpha1.GraphChanges, error) {
	searching, cancel := context.WithTimeout(ctx, changesTake)
	defer cancel()
	found, err := opened.view.Changes(searching, question, opened.lease)
	switch {
	case errors.Is(err, graphview.ErrNoHistory):
		return nil, errNoHistory()
	case errors.Is(err, delivery.ErrUnknownObject):
		return nil, neverKnown(question, found)
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return nil, &delivery.ClosedError{Reason: reason.Unavailable, Message: "the search for changes takes too long; ask for one object, or for a shorter time"}
	case err != nil:
		return nil, err
	}
	answer := answerOf(found, question.Limit)
	for _, gap := range slices.Backward(opened.view.Gaps(found.Since)) {
		answer.Gaps = append(answer.Gaps, streamv1alpha1.Gap{From: microTime(gap.From), Until: microTime(gap.Until), Why: gap.Why})
	}
	if found.TooMany {
		answer.LeftOut = append(answer.LeftOut, "Left out, since the object leads to more than 2,000 objects: those that are farthest from it.")
	}
	return answer, nil
}

// openChanges answers a question about changes on a channel. It closes the graph if it cannot.
func (s *Server) openChanges(ctx context.Context, graph *openGraph, asked *streamv1alpha1.ChangesQuery) (mux.Graph, error) {
	return s.openAnswer(ctx, graph, func() (*streamv1alpha1.ServerMessage, error) {
		question, err := changesQuery(asked, time.Now())
		if err != nil {
			return nil, transport.Malformed("subscribe.changes: %v", err)
		}
		answer, err := s.changesOf(ctx, graph, question)
		return &streamv1alpha1.ServerMessage{Changes: answer}, err
	})
}
