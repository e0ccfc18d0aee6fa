package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
)

// plain compares frames by what is sent of them.
var plain = cmpopts.IgnoreUnexported(delivery.Frame{})

func TestFrame(t *testing.T) {
	now := time.Unix(1000, 0)
	whole := []byte(`{"actions":[1,2],"warnings":[{"t":"X"}],"kinds":[{"k":"Pod"}],"rev":"r.1","synced":true}`)
	all := &delivery.Frame{JSON: whole, Actions: whole[12:15], Warnings: whole[29:38], Kinds: whole[49:60], Rev: "r.1", Synced: true, Received: now.Add(-time.Second)}
	// Each part of the message has to cross the wire.
	for v, i := reflect.ValueOf(*all), 0; i < v.NumField(); i++ {
		if field := v.Type().Field(i); field.Type.Kind() == reflect.Slice && v.Field(i).Len() == 0 {
			t.Errorf("%s is not tested", field.Name)
		}
	}
	for name, f := range map[string]*delivery.Frame{
		"all":     all,
		"reset":   {JSON: []byte(`{"reset":true}`), Reset: true},
		"nothing": {JSON: []byte(`{}`)},
	} {
		t.Run(name, func(t *testing.T) {
			sent := Sent{Frame: f, Last: true}
			head, err := AppendFrame(nil, 7, sent, now)
			if err != nil {
				t.Fatal(err)
			}
			m, err := NewReader(bytes.NewReader(append(head, f.JSON...))).Next()
			if err != nil || m.Type != Frame || m.Channel != 7 {
				t.Fatalf("%+v %v", m, err)
			}
			got, err := ParseFrame(m.Payload, now)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(sent, got, plain); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := AppendFrame(nil, 1, Sent{Frame: &delivery.Frame{JSON: whole, Actions: []byte("elsewhere")}}, now); !errors.Is(err, errParts) {
		t.Errorf("parts from elsewhere: %v", err)
	}
}

func TestControl(t *testing.T) {
	opening := Opening{
		Answers:  Answers{Of: 2, Digest: "d", Places: []Place{PlaceOf(access.Place{Resource: "pods", Namespace: "shop"}), {Group: "apps", Resource: "deployments", Allowed: true}}},
		Continue: true, Step: 3, Since: "run.x", Wanted: Wanted{Content: delivery.SummaryOnly, ExcludeInferred: true}, Key: &graph.Key{Namespace: "shop", Name: "web"},
		Owner: "somebody", Narrow: &graph.Narrowing{Roots: []graph.Key{{Name: "web"}}, Walk: graph.Walk{Direction: graph.Down, Depth: 3}},
	}
	var stream []byte
	stream = AppendControl(stream, Open, 1, opening)
	stream = AppendNumber(stream, More, 300, 1<<40)
	stream = AppendControl(stream, End, 2, EndingOf(&delivery.ClosedError{Reason: reason.Deleted, Message: "gone"}))
	r := NewReader(bytes.NewReader(stream))
	m, err := r.Next()
	var got Opening
	if err != nil || Parse(m, &got) != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(opening, got); diff != "" {
		t.Error(diff)
	}
	if m, err = r.Next(); err != nil || m.Type != More || m.Channel != 300 {
		t.Errorf("%+v %v", m, err)
	}
	if n, err := ParseNumber(m); err != nil || n != 1<<40 {
		t.Errorf("%d %v", n, err)
	}
	for _, text := range []string{"", "\xff", "\x01\x01"} {
		if _, err := ParseNumber(Message{Type: More, Payload: []byte(text)}); err == nil {
			t.Errorf("%q is a number", text)
		}
	}
	var ending Ending
	if m, err = r.Next(); err != nil || Parse(m, &ending) != nil || ending.Err().Reason != reason.Deleted {
		t.Errorf("%+v %v", m, err)
	}
	if _, err = r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
	if got := (Ending{Reason: "Newer"}).Err().Reason; got != reason.Internal {
		t.Errorf("an unknown reason is %s", got)
	}
}

func TestReaderRefuses(t *testing.T) {
	exceeded := &budget.Exceeded{}
	if _, err := NewReader(bytes.NewReader(binary.AppendUvarint([]byte{'f', 1}, 1<<40))).Next(); !errors.As(err, &exceeded) {
		t.Errorf("a terabyte: %v", err)
	}
	for name, text := range map[string]string{"no channel": "f", "no length": "f\x01", "no payload": "f\x01\x05abc", "endless": "f\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		if _, err := NewReader(bytes.NewReader([]byte(text))).Next(); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzWire(f *testing.F) {
	head, _ := AppendFrame(nil, 1, Sent{Frame: &delivery.Frame{JSON: []byte(`{"rev":"a"}`), Rev: "a"}, Last: true}, time.Unix(0, 0))
	f.Add(append(head, `{"rev":"a"}`...))
	f.Add(AppendControl(nil, Open, 1, Opening{Since: "x"}))
	f.Add(AppendControl(nil, Tell, 1, Answers{Digest: "x", Places: []Place{{Resource: "pods"}}}))
	f.Add([]byte("f\x01\x0a\x07\x00\x00\xff\xff\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := NewReader(bytes.NewReader(text))
		for {
			m, err := r.Next()
			if err != nil {
				return
			}
			var opening Opening
			_ = Parse(m, &opening)
			sent, err := ParseFrame(m.Payload, time.Unix(0, 0))
			if err != nil {
				continue
			}
			// What was read is written as it was, but for its age.
			sent.Frame.Received = time.Time{}
			head, err := AppendFrame(nil, m.Channel, sent, time.Unix(0, 0))
			if err != nil {
				t.Fatal(err)
			}
			again, err := NewReader(bytes.NewReader(append(head, sent.Frame.JSON...))).Next()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := ParseFrame(again.Payload, time.Unix(0, 0)); err != nil || !cmp.Equal(sent, got, plain) {
				t.Fatal(err, cmp.Diff(sent, got, plain))
			}
		}
	})
}
