package stream

import (
	"context"
	"errors"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/impact"
	"graphview.dev/graphview/wording"
	"graphview.dev/stream/mux"
	"graphview.dev/stream/names"
)

const (
	// impactOption names the object whose deletion a get asks about.
	impactOption = "impact"
	// impactKind is the kind of the answer.
	impactKind = "GraphImpact"
)

// maxUnseen bounds the deleted objects whose referrers outside the graph are counted.
const maxUnseen = 32

// serveImpact answers with the effects of the deletion of one object on the other objects of the
// user's graph.
func (s *Server) serveImpact(w http.ResponseWriter, r *http.Request, name names.GraphName) error {
	question, err := parseImpact(r)
	if err != nil {
		return err
	}
	return s.serveAnswer(w, r, name, func(ctx context.Context, graph *openGraph, synced bool) (any, error) {
		answer, err := s.impactOf(ctx, graph, question, synced)
		if err == nil {
			answer.Head = headOf(graph.view, impactKind)
		}
		return answer, err
	})
}

// parseImpact reads a question from a query. The error is a Status.
func parseImpact(r *http.Request) (impact.Question, error) {
	options, err := parseOptions(r)
	if err == nil {
		err = onlyJSON(r)
	}
	if err == nil && options.Narrow != nil {
		err = apierrors.NewBadRequest("?impact= asks about a whole graph: leave ?root= out")
	}
	if err != nil {
		return impact.Question{}, err
	}
	query := r.URL.Query()
	inferred := query.Get("inferred")
	if inferred != "" && inferred != "true" && inferred != "false" {
		return impact.Question{}, apierrors.NewBadRequest("?inferred= must be true, or false to leave out references that are only inferred")
	}
	question, err := delivery.ParseImpact(query.Get(impactOption), query.Get("propagationPolicy"))
	if err != nil {
		return question, apierrors.NewBadRequest(err.Error())
	}
	question.ExcludeInferred = inferred == "false"
	return question, nil
}

// impactOf reads the graph once and answers the question. The error is a Status, a
// *delivery.ClosedError, or ctx's.
func (s *Server) impactOf(ctx context.Context, opened *openGraph, question impact.Question, synced bool) (*streamv1alpha1.GraphImpact, error) {
	release, err := s.exportRoom(ctx, opened.view, synced)
	if err != nil {
		return nil, err
	}
	defer release()
	subscription := opened.view.Subscribe(delivery.SubscribeOptions{Content: delivery.SummaryOnly, Access: opened.lease, Owner: opened.lease.Owner()})
	defer subscription.Close()
	within := startWithin
	if synced {
		within = s.options.SyncTimeout
	}
	frames, err := firstFrames(ctx, subscription, within)
	read := impactReader{excludeInferred: question.ExcludeInferred}
	for err == nil {
		var complete bool
		if complete, err = read.add(frames); err != nil || complete {
			break
		}
		frames, err = subscription.Next(ctx)
	}
	if err != nil {
		return nil, err
	}
	found, err := read.graph.Of(ctx, messageKey(question.Object), question.Policy)
	switch {
	case errors.Is(err, impact.ErrNotFound):
		return nil, read.notFound(question.Object)
	case err != nil:
		return nil, err
	}
	if found.Unseen, err = countUnseen(ctx, opened, found.Groups); err != nil {
		return nil, err
	}
	about := wording.Answer{
		Of: "the graph", Incomplete: !read.synced, Declared: question.ExcludeInferred, Here: opened.view.Status().SomeNamespaces, Gaps: read.gaps,
	}
	found.Synced, found.Warnings, found.LeftOut = read.synced, read.warnings, about.LeftOut()
	return found, nil
}

// countUnseen counts the referrers of the deleted objects that the graph does not have.
func countUnseen(ctx context.Context, opened *openGraph, groups []streamv1alpha1.ImpactGroup) (count int, err error) {
	looked := 0
	for i := range groups {
		group := &groups[i]
		for _, key := range group.Objects {
			if group.Verdict != impact.Deleted.Words() || looked == maxUnseen {
				return count, nil
			}
			looked++
			found, err := opened.view.Find(ctx, graphKey(&key), opened.lease)
			if err != nil {
				return 0, err
			}
			if found != nil {
				count += found.Unseen
			}
		}
	}
	return count, nil
}

// notFound returns the error that the graph lacks an object, in a user's words.
func (r *impactReader) notFound(key graph.Key) error {
	kind, selected := r.kind(key)
	return objectNotFound(key, wording.Absent{
		Kind: kind, Selected: selected, Referrers: r.graph.Referrers(messageKey(key)),
		Denied: slices.ContainsFunc(r.gaps, func(gap wording.Gap) bool {
			return gap.Denied() && gap.Covers(key.Group, key.Resource.Resource, key.Namespace)
		}),
	}, "")
}

// openImpact answers a question about the deletion of an object on a channel.
func (s *Server) openImpact(ctx context.Context, graph *openGraph, question impact.Question) (mux.Graph, error) {
	return s.openAnswer(ctx, graph, func() (*streamv1alpha1.ServerMessage, error) {
		answer, err := s.impactOf(ctx, graph, question, true)
		return &streamv1alpha1.ServerMessage{Impact: answer}, err
	})
}
