package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"time"

	"graphview.dev/api/contents"
	"graphview.dev/api/reason"
)

// Options of a subscription. The zero value is usable.
type Options struct {
	// From is a graph to continue from: the result of Get, or the graph of a former subscription.
	// The subscription keeps it and changes it. Nil: an empty graph.
	From *Graph
	// Content is the content of each vertex; "" is ContentObject.
	Content Content
	// ExcludeInferred leaves out the references that are only inferred. Objects that only they
	// lead to, from the roots of a view or of Narrow, stay; those of a Request do not.
	ExcludeInferred bool
	// Narrow is the part of the graph that is sent; nil for all of it. A Request has
	// roots of its own instead.
	Narrow *Narrow
	// OnRetry is called before each pause with the reason why the connection was lost or not made.
	// Its error ends the subscription. Nil: only a Permanent error
	// ends it.
	OnRetry func(err error, pause time.Duration) error
	// MaxPause bounds the pauses between attempts; 0 means 30 s. After the server
	// has reported that a limit is reached, or asked for a pause, they may become ten times as long.
	MaxPause time.Duration
	// At is the time of a Snapshot that is not the present: a duration before now of the server's clock, such as 2h, or a
	// time of RFC 3339. It takes ContentSummary, and no Narrow. Subscriptions have no past.
	At string

	// only and whole are set by Troubled.
	only  string
	whole []string
}

// query returns the parameters of a request with the options.
func (o *Options) query() url.Values {
	query := url.Values{}
	if o.Content != "" {
		query.Set("content", string(o.Content))
	}
	o.Narrow.add(query)
	if o.At != "" {
		query.Set("at", o.At)
	}
	if o.only != "" {
		query.Set("only", o.only)
		query["whole"] = o.whole
	}
	return query
}

// Content is the content of each vertex.
type Content string

const (
	// ContentObject is the object, or the parts that the view's JSONPath found in it.
	ContentObject Content = "object"
	// ContentSummary is a Summary.
	ContentSummary Content = "summary"
	// ContentNone is nothing beside the name.
	ContentNone Content = "none"
)

// Subscription follows one graph over several connections, one after another. It
// belongs to one goroutine.
type Subscription struct {
	open    opener
	name    string // for errors
	options Options
	graph   *Graph

	conn      channel
	ours      []*Received // messages of the subscription that Receive returns before the next one of the server
	last      *CloseError
	current   bool     // this connection has brought a rev
	known     bool     // one of them has
	dropped   *dropped // nil unless a reset keeps a part of the graph, until the next rev
	noMessage bool     // the server takes no message, so that sums must fit into a URL
	renewed   bool     // since the last rev, a new token has been tried at once
	pauses    backoff
	err       error // the subscription has ended
}

// opener opens a connection for a subscription.
type opener func(ctx context.Context, from start) (channel, error)

// start has the position at which a connection continues.
type start struct {
	since string
	// compares reports whether the client sends have, also if it has no graph.
	compares bool
	have     *contents.Have // the sums of the graph; nil: it has nothing
}

// haveNothing is the parameter have of a client that has nothing yet.
const haveNothing = "none"

func (s start) haveText() string {
	if s.have == nil {
		return haveNothing
	}
	return s.have.String()
}

// maxURLBits is the number of bits up to which sums are sent in the URL, which proxies limit to 8 KiB.
const maxURLBits = 9

// channel brings the messages of one subscription.
type channel interface {
	next(ctx context.Context) (*Received, error)
	close()
	// continues reports whether the next connection could continue after a rev of this one.
	continues() bool
}

func subscribe(open opener, name string, o Options) *Subscription {
	s := &Subscription{open: open, name: name, options: o, graph: o.From, pauses: backoff{most: o.MaxPause}}
	if s.graph == nil {
		s.graph = &Graph{}
	}
	return s
}

// Watch follows a graph by the name of its GraphView. Receive or Next opens the connection. The
// caller closes the subscription.
func (c *Client) Watch(namespace, name string, o Options) *Subscription {
	return subscribe(func(ctx context.Context, from start) (channel, error) {
		query := o.query()
		if from.since != "" {
			query.Set("since", from.since)
		}
		inMessage := from.have != nil && from.have.Bits > maxURLBits
		switch {
		case inMessage:
			query.Set("have", "message")
		case from.compares:
			query.Set("have", from.haveText())
		}
		conn, err := c.dial(ctx, c.url(query, "watch", "namespaces", namespace, "graphs", name), "graphview.v1")
		if err != nil {
			return nil, err
		}
		if inMessage {
			if err := conn.write(ctx, []byte(`{"have":"`+from.haveText()+`"}`)); err != nil {
				conn.close()
				return nil, err
			}
		}
		return single{conn}, nil
	}, fmt.Sprintf("graph %s/%s", namespace, name), o)
}

// single is a connection for one subscription.
type single struct{ *connection }

func (s single) next(ctx context.Context) (*Received, error) {
	text, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	return parseMessage(text)
}

func (s single) continues() bool { return true }

// Next waits until the graph has changed and is complete again, and returns it. The graph belongs to
// the subscription: it does not change before the next call. Errors are
// those of Receive.
func (s *Subscription) Next(ctx context.Context) (*Graph, error) {
	for {
		m, err := s.Receive(ctx)
		if err != nil {
			return nil, err
		}
		if m.Rev != "" {
			return s.graph, nil
		}
	}
}

// Graph returns the graph that the messages so far have built.
func (s *Subscription) Graph() *Graph { return s.graph }

// Receive waits for the next message, applies it and returns it. The
// messages that it has returned build the graph: after a lost connection whose
// graph cannot be continued, a message has Reset.
//
// It opens a connection if there is none. After an error it waits and tries again, unless
// the error is Permanent. It returns a Permanent error, or an error of OnRetry, in each
// later call too. When ctx is done it returns the cause of ctx; the
// subscription can be read on with another context.
func (s *Subscription) Receive(ctx context.Context) (*Received, error) {
	for {
		switch {
		case s.err != nil:
			return nil, s.err
		case len(s.ours) > 0:
			m := s.ours[0]
			s.ours = s.ours[1:]
			s.graph.Apply(&m.Message)
			return m, nil
		}
		err := s.connect(ctx)
		if err == nil && len(s.ours) > 0 {
			continue
		}
		var m *Received
		if err == nil {
			m, err = s.receive(ctx)
		}
		if err == nil {
			return m, nil
		}
		if err := s.lost(ctx, err); err != nil {
			return nil, err
		}
	}
}

// connect opens a connection if there is none.
func (s *Subscription) connect(ctx context.Context) error {
	if s.conn != nil {
		return nil
	}
	from := s.start()
	conn, err := s.open(ctx, from)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	s.conn, s.last, s.current, s.dropped = conn, nil, false, nil
	begins := !conn.continues() || from.since == ""
	switch warnings := s.graph.Warnings(); {
	case begins && s.graph.empty():
		s.graph.Forget()
	case begins:
		s.ours = append(s.ours, say(Message{Reset: true}))
	case len(warnings) > 0:
		// The server sends all present warnings again.
		s.ours = append(s.ours, say(Message{Cleared: warnings}))
	}
	s.graph.Synced = false
	return nil
}

// noRevision is a revision that no server issues. It requests a reset, also from a server that does not
// compare.
const noRevision = "-"

// compares reports whether the graph can be continued by its contents: if it has all that the server sends.
func (s *Subscription) compares() bool { return s.options.Narrow == nil && !s.options.ExcludeInferred }

// start returns where the next connection continues.
func (s *Subscription) start() start {
	from := start{since: s.graph.Rev}
	if from.compares = s.compares(); !from.compares || len(s.graph.Vertices) == 0 {
		return from
	}
	most := contents.MaxBits
	if s.noMessage {
		most = maxURLBits
	}
	from.have = s.graph.have(most)
	if from.since == "" {
		from.since = noRevision
	}
	return from
}

func (s *Subscription) receive(ctx context.Context) (*Received, error) {
	if s.last != nil {
		return nil, s.last
	}
	m, err := s.conn.next(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.continueWith(m); err != nil {
		return nil, err
	}
	if s.options.ExcludeInferred {
		if err := m.excludeInferred(s.graph); err != nil {
			return nil, err
		}
	}
	s.graph.Apply(&m.Message)
	s.last = m.Error // Receive returns the message first
	if m.Rev != "" {
		s.current, s.known, s.renewed = true, true, false
	}
	return m, nil
}

// lost handles an error: it waits and returns nil if the subscription tries again.
func (s *Subscription) lost(ctx context.Context, err error) error {
	s.hangUp()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if closed, said := errors.AsType[*CloseError](err); said && closed.Reason == reason.UnexpectedMessage && !s.noMessage {
		s.noMessage = true // an older server, which does not compare
		return nil
	}
	if Permanent(err) && !(s.known && shutOut(err)) {
		s.err = fmt.Errorf("%s: %w", s.name, err)
		return s.err
	}
	closed, said := errors.AsType[*CloseError](err)
	if s.current && (!said || closed.Code == reason.CodeGoingAway) {
		s.pauses.connected()
	}
	var pause time.Duration
	switch {
	case isExpired(err) && !s.renewed:
		s.renewed = true // credentials are read again for each connection
	case said && closed.Reason == reason.Outdated && s.current:
	default:
		pause = s.pauses.pause(err)
	}
	if s.options.OnRetry != nil {
		if err := s.options.OnRetry(err, pause); err != nil {
			s.err = fmt.Errorf("%s: %w", s.name, err)
			return s.err
		}
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

func (s *Subscription) hangUp() {
	if s.conn != nil {
		s.conn.close()
		s.conn = nil
	}
}

// Close ends the subscription. It is idempotent.
func (s *Subscription) Close() {
	s.hangUp()
	if s.err == nil {
		s.err = errors.New("the subscription is closed")
	}
}

// All returns the graphs that Next returns, up to its error.
func (s *Subscription) All(ctx context.Context) iter.Seq2[*Graph, error] {
	return func(yield func(*Graph, error) bool) {
		for {
			graph, err := s.Next(ctx)
			if !yield(graph, err) || err != nil {
				return
			}
		}
	}
}
