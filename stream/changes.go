package stream

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/api/reason"
	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/history"
	"graphview.dev/graphview/wording"
	"graphview.dev/stream/names"
	"graphview.dev/stream/rights"
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
	who, _ := request.UserFrom(r.Context())
	giveBack, err := s.takeExport(budget.UserOwner(who))
	if err != nil {
		return notAdmitted(err)
	}
	defer giveBack()
	stream, view, _, err := s.beginGet(r, name)
	if stream == nil {
		return err
	}
	defer stream.Release()
	graph, err := s.open(stream.Ctx, who, &opening{name: name, view: view, terms: rights.Terms{End: stream.End}})
	var answer *streamv1alpha1.GraphChanges
	if err == nil {
		defer graph.Close()
		answer, err = s.changesOf(stream.Ctx, graph, question)
	}
	if err != nil {
		return s.failure(stream.Ctx, name, err)
	}
	answer.Head = headOf(view, changesKind)
	return s.answer(w, r, notKept, encode(answer), []byte("\n"))
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

var errMoment = errors.New("must be a time such as 2026-11-29T09:30:00Z, or a duration before now such as 90s, 2h or 3d")

// parseMoment reads a time in RFC 3339, or a duration before now, as microseconds since 1970.
func parseMoment(text string, now time.Time) (int64, error) {
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at.UnixMicro(), nil
	}
	if text[0] == '-' {
		text = text[1:]
	}
	if n := len(text) - 1; n > 0 && text[n] == 'd' {
		days, err := strconv.ParseFloat(text[:n], 64)
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
	answer.Until = microTime(found.Until)
	for _, gap := range slices.Backward(opened.view.Gaps(found.Since)) {
		answer.Gaps = append(answer.Gaps, streamv1alpha1.Gap{From: microTime(gap.From), Until: microTime(gap.Until), Why: gap.Why})
	}
	if found.TooMany {
		answer.LeftOut = append(answer.LeftOut, "Left out, since the object leads to more than 2,000 objects: those that are farthest from it.")
	}
	return answer, nil
}

// neverKnown returns the error that neither the graph nor its history has an object.
func neverKnown(question delivery.ChangesQuery, found *delivery.Changes) error {
	key := question.Object
	absent := wording.Absent{
		Kind: key.Resource.Resource, Resource: schema.GroupResource{Group: key.Group, Resource: key.Resource.Resource}.String(), Namespace: key.Namespace, Name: key.Name,
	}
	if found != nil && found.Kind != "" {
		absent.Kind, absent.Selected = found.Kind, true
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: absent.Text() + ", and the history does not have it",
		Details: &metav1.StatusDetails{Group: key.Group, Kind: absent.Kind, Name: key.Name},
	}}
}

func microTime(at int64) metav1.MicroTime { return metav1.NewMicroTime(time.UnixMicro(at).UTC()) }

// answerOf returns the answer for the client. An entry may be several changes.
func answerOf(found *delivery.Changes, limit int) *streamv1alpha1.GraphChanges {
	a := &streamv1alpha1.GraphChanges{Changes: []streamv1alpha1.Change{}, Since: microTime(found.Since), More: found.More}
	if found.Object != nil {
		key := messageKey(*found.Object)
		a.Object = &key
	}
	for _, c := range found.Changes {
		a.Changes = append(a.Changes, changesOfEntry(c)...)
	}
	if len(a.Changes) > limit {
		a.Changes, a.More = a.Changes[:limit], true
	}
	return a
}

// changesOfEntry returns the changes of one entry: that of the health is the last, since the others are its
// cause.
func changesOfEntry(c *delivery.Changed) (all []streamv1alpha1.Change) {
	base := streamv1alpha1.Change{Time: microTime(c.At), Key: messageKey(c.Object), Kind: c.Kind, UID: c.UID, ControllerKind: c.ControllerKind}
	if c.From != 0 {
		earliest := microTime(c.From)
		base.Earliest = &earliest
	}
	if c.Controller != nil {
		key := messageKey(*c.Controller)
		base.Controller = &key
	}
	if c.Times > 1 {
		first := microTime(c.First)
		base.Times, base.First = c.Times, &first
	}
	if c.Via != nil {
		base.Via = &streamv1alpha1.ChangeVia{Key: messageKey(c.Via.Neighbour), Kind: c.Via.Kind, Words: c.Via.Words, Up: c.Via.Up, Depth: c.Via.Depth}
	}
	add := func(typ streamv1alpha1.ChangeType, set func(*streamv1alpha1.Change)) {
		change := base
		change.Type = typ
		set(&change)
		all = append(all, change)
	}
	health := healthChange(c.Entry)
	switch c.Op {
	case history.Added:
		add(streamv1alpha1.ChangeAdded, func(change *streamv1alpha1.Change) { change.Health = health })
		return all
	case history.Removed:
		add(streamv1alpha1.ChangeRemoved, func(change *streamv1alpha1.Change) { change.Health = health })
		return all
	case history.Changed:
	}
	if !c.Before.SameWord(c.After) {
		add(streamv1alpha1.ChangeHealth, func(change *streamv1alpha1.Change) { change.Health = health })
	}
	for i := range c.Arcs {
		if ref := referenceChange(c, &c.Arcs[i]); ref != nil {
			add(streamv1alpha1.ChangeReference, func(change *streamv1alpha1.Change) { change.Reference = ref })
		}
	}
	if len(c.Paths) > 0 {
		add(streamv1alpha1.ChangeContent, func(change *streamv1alpha1.Change) { change.Paths, change.MorePaths = pathsOf(c.Paths), c.More })
	}
	return all
}

// healthChange returns the change of the health in an entry, nil for an object that never said.
func healthChange(e *history.Entry) *streamv1alpha1.HealthChange {
	word := func(h history.Health) (state, why string) {
		u := h.Unpack()
		if u.State == "unknown" {
			return "", u.Reason
		}
		return string(u.State), u.Reason
	}
	change := &streamv1alpha1.HealthChange{}
	change.From, _ = word(e.Before)
	change.To, change.Why = word(e.After)
	if *change == (streamv1alpha1.HealthChange{}) {
		return nil
	}
	return change
}

// pathsOf returns the changed fields for the client, nil if they are not known.
func pathsOf(paths []history.Path) []streamv1alpha1.ChangedPath {
	var all []streamv1alpha1.ChangedPath
	for _, p := range paths {
		if p.Path == "" {
			continue
		}
		out := streamv1alpha1.ChangedPath{Path: p.Path, Op: [...]string{streamv1alpha1.OpChanged, streamv1alpha1.OpAdded, streamv1alpha1.OpRemoved}[p.Op]}
		if p.Before != "" {
			out.Before = &p.Before
		}
		if p.After != "" {
			out.After = &p.After
		}
		all = append(all, out)
	}
	return all
}

// referenceChange returns the change of a reference, nil for an arc that another entry implies, and for a
// change of its fields alone.
func referenceChange(c *delivery.Changed, a *history.Arc) *streamv1alpha1.ReferenceChange {
	if a.Implied || a.Before.Exists == a.After.Exists {
		return nil
	}
	to := c.Target(a)
	if to == nil {
		return nil
	}
	ref := &streamv1alpha1.ReferenceChange{To: messageKey(to.Key), Kind: a.To.Kind, Type: streamv1alpha1.ArcType(a.Type.String()), Fields: to.Fields, Words: to.Words, Change: streamv1alpha1.OpAdded}
	switch {
	case a.Before.Exists:
		ref.Change = streamv1alpha1.OpRemoved
	case to.Missing:
		ref.Change = streamv1alpha1.OpMissing
	}
	return ref
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
		return apierrors.NewBadRequest("?at=: the history of this graph begins at " + time.UnixMicro(since).UTC().Format(time.RFC3339))
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

// openChanges answers a question about changes on a channel. It closes the graph if it cannot.
func (s *Server) openChanges(ctx context.Context, graph *openGraph, asked *streamv1alpha1.ChangesQuery) (*answerChannel, error) {
	return s.openAnswer(ctx, graph, func() (*streamv1alpha1.ServerMessage, error) {
		question, err := changesQuery(asked, time.Now())
		if err != nil {
			return nil, transport.Malformed("subscribe.changes: %v", err)
		}
		answer, err := s.changesOf(ctx, graph, question)
		return &streamv1alpha1.ServerMessage{Changes: answer}, err
	})
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
