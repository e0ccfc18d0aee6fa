package scenarios

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"graphview.dev/graphview/delivery"
	"graphview.dev/stream"
	"graphview.dev/test/oracle"
	"graphview.dev/test/subscriber"
)

// follower is one subscriber, and a record of the actions that it was sent.
type follower struct {
	*subscriber.Subscriber

	stop func() // ends the subscription and returns when it has ended

	// actions are written and read while the subscriber is locked.
	actions []line

	mu     sync.Mutex
	closed *delivery.ClosedError // how the subscription ended
}

// follow subscribes to a view, continuing with what an earlier follower had if
// that is not nil.
func follow(ctx context.Context, v stream.View, earlier *follower) *follower {
	f := &follower{Subscriber: subscriber.New()}
	if earlier != nil {
		f.Subscriber = earlier.Continued()
	}
	f.Heard = f.record
	subscription := v.Subscribe(delivery.SubscribeOptions{Since: f.Begin()})
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer subscription.Close()
		f.ended(f.Follow(subscriber.Batches(
			func() ([]*delivery.Frame, error) { return subscription.Next(ctx) },
			func(frame *delivery.Frame) []byte { return frame.JSON },
		)))
	}()
	f.stop = func() {
		cancel()
		<-done
	}
	return f
}

// ended notes how the subscription ended.
func (f *follower) ended(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !errors.As(err, &f.closed) && !errors.Is(err, context.Canceled) {
		f.Fail(err)
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
func (f *follower) hasGraph(want []line, forget bool, render func([]line) []line) (why string) {
	if err := f.Err(); err != nil {
		return err.Error()
	}
	if closed := f.closing(); closed != nil {
		return closed.Error()
	}
	f.Look(func(c *oracle.Client) {
		if !c.Synced() {
			why = fmt.Sprintf("not synced, has %v", render(graphLines(c)))
			return
		}
		if why = differ(want, render(graphLines(c))); why == "" && forget {
			f.actions = nil
		}
	})
	return why
}

// wasSent says how the actions that the follower was sent differ from want, ""
// if they do not; then they are forgotten. It is final when there are as many as
// are wanted.
func (f *follower) wasSent(want []line, render func([]line) []line) (why string, final bool) {
	f.Look(func(*oracle.Client) {
		if why = differ(want, render(f.actions)); why == "" {
			f.actions = nil
			final = true
			return
		}
		final = len(f.actions) >= len(want)
	})
	return why, final
}

func (f *follower) closing() *delivery.ClosedError {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// end is how the subscription ended, if it did.
func (f *follower) end() []line {
	closed := f.closing()
	if closed == nil {
		return nil
	}
	return []line{{head: strconv.Itoa(int(closed.Code())), detail: closed.Message}}
}
