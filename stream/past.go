package stream

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/transport"
)

var errMoment = errors.New("must be a time such as 2026-11-29T09:30:00Z, or a duration before now such as 90s, 2h or 3d")

// parseMoment reads a time in RFC 3339, or a duration before now, as microseconds since 1970.
func parseMoment(text string, now time.Time) (int64, error) {
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at.UnixMicro(), nil
	}
	text = strings.TrimPrefix(text, "-")
	if number, found := strings.CutSuffix(text, "d"); found {
		days, err := strconv.ParseFloat(number, 64)
		if err != nil || math.IsNaN(days) || days < 0 || days > 3650 {
			return 0, errMoment
		}
		return now.Add(-time.Duration(days * float64(24*time.Hour))).UnixMicro(), nil
	}
	before, err := time.ParseDuration(text)
	if err != nil || before < 0 {
		return 0, errMoment
	}
	return now.Add(-before).UnixMicro(), nil
}

// parseAt reads the time of a graph of the past, 0 for the present one. The error is a Status.
func parseAt(r *http.Request, options *delivery.SubscribeOptions) (int64, error) {
	text := r.URL.Query().Get(atOption)
	if text == "" {
		return 0, nil
	}
	content := r.URL.Query().Get("content")
	switch {
	case content != "" && content != "summary":
		return 0, apierrors.NewBadRequest("?at= goes with content=summary: the history keeps no objects")
	case options.Narrow != nil:
		return 0, apierrors.NewBadRequest("?at= answers with the whole graph: leave ?root= out")
	}
	at, err := parseMoment(text, time.Now())
	if err != nil {
		return 0, apierrors.NewBadRequest("?at= " + err.Error())
	}
	options.Content = delivery.SummaryOnly
	return max(at, 1), nil
}

// setPast sets the options for the graph of a view at a time. The error is a Status.
func setPast(view View, at int64, options *delivery.SubscribeOptions) error {
	past, since, err := view.Past(at)
	if err != nil {
		return errNoHistory()
	}
	switch {
	case at > time.Now().Add(clockSkew).UnixMicro():
		return apierrors.NewBadRequest("?at= is in the future; leave it out for the graph as it is now")
	case at < since:
		return apierrors.NewBadRequest("?at=: the history of this graph begins at " + time.UnixMicro(since).UTC().Format(time.RFC3339) + "; ask for a later time")
	}
	for _, gap := range view.Gaps(at) {
		if at < gap.Until && at >= gap.From {
			return apierrors.NewBadRequest(fmt.Sprintf("?at=: the history has a gap from %s to %s: %s",
				time.UnixMicro(gap.From).UTC().Format(time.RFC3339), time.UnixMicro(gap.Until).UTC().Format(time.RFC3339), gap.Why))
		}
	}
	options.Content, options.Past = delivery.SummaryOnly, past
	return nil
}

// subscribePast subscribes a channel to the graph of the past, which is sent once. Until the channel is closed it counts as
// an export of its user, since the changes since then are in memory.
func (s *Server) subscribePast(ctx context.Context, graph *openGraph, at string) error {
	moment, err := parseMoment(at, time.Now())
	if err != nil {
		return transport.Malformed("subscribe.at: %v", err)
	}
	giveBack, err := s.takeExport(graph.lease.Owner())
	if err != nil {
		return &delivery.ClosedError{Reason: reason.TooManyRequests, Message: err.Error()}
	}
	graph.onClose = append(graph.onClose, giveBack)
	if err := graph.view.WaitSynced(ctx); err != nil {
		return toClosedError(err)
	}
	options := delivery.SubscribeOptions{Access: graph.lease, Owner: graph.lease.Owner()}
	if err := setPast(graph.view, moment, &options); err != nil {
		return questionClosed(err)
	}
	graph.Subscription = graph.view.Subscribe(options)
	return nil
}
