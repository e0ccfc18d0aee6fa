package scenarios

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/test/oracle"
)

// follower is one subscriber: a strict reference client, and a record of the
// actions that it was sent.
type follower struct {
	stop func() // ends the subscription and returns when it has ended

	mu      sync.Mutex
	client  oracle.Client
	actions []line
	broken  error                 // what is wrong with the messages
	closed  *delivery.ClosedError // how the subscription ended
}

// follow subscribes to a view, continuing with what an earlier follower had if
// that is not nil.
func follow(ctx context.Context, v *graphview.View, earlier *follower) *follower {
	f := &follower{client: oracle.Client{Strict: true}}
	if earlier != nil {
		f.client, f.broken = earlier.client, earlier.broken
		f.client.Resumed()
	}
	subscription := v.Subscribe(delivery.SubscribeOptions{Since: f.client.Rev()})
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer subscription.Close()
		f.run(ctx, subscription)
	}()
	f.stop = func() {
		cancel()
		<-done
	}
	return f
}

func (f *follower) run(ctx context.Context, s *delivery.Subscription) {
	for {
		frames, err := s.Next(ctx)
		f.mu.Lock()
		for _, frame := range frames {
			if err := errors.Join(f.client.Apply(frame.JSON), f.record(frame.JSON)); err != nil && f.broken == nil {
				f.broken = fmt.Errorf("apply %.300s: %w", frame.JSON, err)
			}
		}
		if err != nil && !errors.As(err, &f.closed) && !errors.Is(err, context.Canceled) && f.broken == nil {
			f.broken = err
		}
		f.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// record notes a message's actions as lines.
func (f *follower) record(text []byte) error {
	var message struct {
		Reset   bool                                    `json:"reset"`
		Actions []map[string]map[string]json.RawMessage `json:"actions"`
	}
	if err := json.Unmarshal(text, &message); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	if message.Reset {
		f.actions = append(f.actions, line{head: "reset"})
	}
	for _, action := range message.Actions {
		for verb, a := range action {
			text, err := actionText(verb, a)
			if err != nil {
				return fmt.Errorf("record %s: %w", verb, err)
			}
			f.actions = append(f.actions, line{head: text})
		}
	}
	return nil
}

// vertexOf is a vertex of an action.
type vertexOf struct {
	Group     string `json:"g"`
	Version   string `json:"v"`
	Resource  string `json:"r"`
	Namespace string `json:"ns"`
	Name      string `json:"n"`
}

func actionText(verb string, a map[string]json.RawMessage) (string, error) {
	var vertex, from, to vertexOf
	var content any
	var attributes oracle.Attributes
	var typ string
	for member, into := range map[string]any{"vx": &vertex, "o": &content, "j": &content, "f": &content, "s": &from, "d": &to, "t": &typ, "a": &attributes} {
		if text, ok := a[member]; ok {
			if err := json.Unmarshal(text, into); err != nil {
				return "", err
			}
		}
	}
	switch verb {
	case "svx":
		return "svx " + vertexText(oracle.VertexKey(vertex)) + contentText(content), nil
	case "dvx":
		return "dvx " + vertexText(oracle.VertexKey(vertex)), nil
	}
	arc := oracle.ArcKey{From: oracle.VertexKey(from), To: oracle.VertexKey(to), Type: typ}
	return verb + " " + arcText(arc) + attributesText(attributes), nil
}

// hasGraph says how what the follower has differs from want, "" if it does not.
// Where forget is true and it does not, the actions up to here are forgotten.
func (f *follower) hasGraph(want []line, forget bool, render func([]line) []line) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.broken != nil:
		return f.broken.Error()
	case f.closed != nil:
		return f.closed.Error()
	case !f.client.Synced():
		return fmt.Sprintf("not synced, has %v", render(graphLines(&f.client)))
	}
	why := differ(want, render(graphLines(&f.client)))
	if why == "" && forget {
		f.actions = nil
	}
	return why
}

// wasSent says how the actions that the follower was sent differ from want, ""
// if they do not; then they are forgotten. It is final when there are as many as
// are wanted.
func (f *follower) wasSent(want []line, render func([]line) []line) (why string, final bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if why = differ(want, render(f.actions)); why == "" {
		f.actions = nil
		return "", true
	}
	return why, len(f.actions) >= len(want)
}

// end is how the subscription ended, if it did.
func (f *follower) end() []line {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed == nil {
		return nil
	}
	return []line{{head: strconv.Itoa(int(f.closed.Code())), detail: f.closed.Message}}
}
