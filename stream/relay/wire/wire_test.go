package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
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
	whole := []byte(`{"actions":[1,2],"warnings":[{"t":"X"}],"kinds":[{"k":"Pod"}],"rev":"r.1","synced":true,"cleared":[{"t":"Y"}]}`)
	all := &delivery.Frame{JSON: whole, Actions: whole[12:15], Warnings: whole[29:38], Kinds: whole[49:60], Cleared: whole[len(whole)-11 : len(whole)-2], Rev: "r.1", Synced: true, Received: now.Add(-time.Second)}
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
			head := AppendFrame(nil, 7, f, true, now)
			m, err := NewReader(bytes.NewReader(append(head, f.JSON...))).Next()
			if err != nil || m.Type != Frame || m.Channel != 7 {
				t.Fatalf("%+v %v", m, err)
			}
			got, keep, err := ParseFrame(m.Payload, now)
			if err != nil || !keep {
				t.Fatal(keep, err)
			}
			if diff := cmp.Diff(f, got, plain); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestForeignFrames: a frame has the members that this version knows, whatever its text
// has. Text that could end a list early is refused.
func TestForeignFrames(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"unknown members":      {`{"channel":"x","actions":[1],"more":{"rev":"a"},"rev":"r.1"}`, `{"actions":[1],"rev":"r.1"}`},
		"spaces":               {` {"actions" : [ 1 ] , "rev":"r.1"} `, ` {"actions" : [ 1 ] , "rev":"r.1"} `},
		"a member twice":       {`{"rev":"r.1","rev":"r.2"}`, ""},
		"an escaped name":      {`{"rev":"r.1","r\u0065v":"r.2"}`, ""},
		"a line break":         {"{\"actions\":[1],\r\n\"rev\":\"r.1\"}", ""},
		"not a list":           {`{"actions":{}}`, ""},
		"not a flag":           {`{"synced":1}`, ""},
		"not a revision":       {`{"rev":"a\nb"}`, ""},
		"unbalanced":           {`{"actions":[ {] } ]}`, ""},
		"a list that ends":     {`{"actions":[1],[2]}`, ""},
		"more than one object": {`{"rev":"a"}{"rev":"b"}`, ""},
		"a list":               {`[]`, ""},
		"cut short":            {`{"actions":[1`, ""},
		"nothing":              {``, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := parse([]byte(tt.text))
			if (err != nil) != (tt.want == "") || err == nil && string(f.JSON) != tt.want {
				t.Errorf("%+v, %v; want %q", f, err, tt.want)
			}
		})
	}
}

// TestQueue: both ends forget the same frames, and never the newest one.
func TestQueue(t *testing.T) {
	var sent, received Queue
	random := rand.New(rand.NewPCG(1, 2))
	var all []*delivery.Frame
	for range 1000 {
		f := &delivery.Frame{JSON: make([]byte, random.IntN(queueBytes/16))}
		if random.IntN(50) == 0 {
			f.JSON = make([]byte, 2*queueBytes)
		}
		all = append(all, f)
		sent.Add(f)
		received.Add(f)
		if n, ok := sent.Number(f); !ok || n != uint64(len(all)-1) {
			t.Fatalf("the newest frame has number %d, %t", n, ok)
		}
		held := 0
		for i, f := range all {
			n, ok := sent.Number(f)
			got, err := received.Frame(uint64(i))
			if ok != (err == nil) || ok && (n != uint64(i) || got != f) {
				t.Fatalf("frame %d: number %d, %t; %v", i, n, ok, err)
			}
			if ok {
				held += len(f.JSON)
			}
		}
		if last := len(f.JSON); held > max(queueBytes, last) {
			t.Fatalf("%d bytes are held", held)
		}
	}
	if _, err := received.Frame(uint64(len(all))); err == nil {
		t.Error("a frame that was never sent")
	}
}

func TestControl(t *testing.T) {
	opening := Opening{
		Answers: Answers{Of: "c", Digest: "d", Places: []Place{PlaceOf(access.Place{Resource: "pods", Namespace: "shop"}), {Group: "apps", Resource: "deployments", Allowed: true}}},
		Window:  3, Since: "run.x", Content: delivery.SummaryOnly, ExcludeInferred: true, JoinWalk: true, Key: &graph.Key{Namespace: "shop", Name: "web"},
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
	if _, err := NewReader(bytes.NewReader(binary.AppendUvarint([]byte{'F', 1}, 1<<40))).Next(); !errors.As(err, &exceeded) {
		t.Errorf("a terabyte: %v", err)
	}
	for name, text := range map[string]string{"no channel": "f", "no length": "f\x01", "no payload": "f\x01\x05abc", "endless": "f\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		if _, err := NewReader(bytes.NewReader([]byte(text))).Next(); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzWire(f *testing.F) {
	frame := &delivery.Frame{JSON: []byte(`{"rev":"a"}`), Rev: "a"}
	f.Add(append(AppendFrame(nil, 1, frame, true, time.Unix(0, 0)), frame.JSON...))
	f.Add(AppendControl(nil, Open, 1, Opening{Since: "x"}))
	f.Add(AppendControl(nil, Tell, 1, Answers{Digest: "x", Places: []Place{{Resource: "pods"}}}))
	f.Add([]byte("F\x01\x0a\x07\x00{\"actions\":[]}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := NewReader(bytes.NewReader(text))
		for {
			m, err := r.Next()
			if err != nil {
				return
			}
			var opening Opening
			_ = Parse(m, &opening)
			sent, keep, err := ParseFrame(m.Payload, time.Unix(0, 0))
			if err != nil {
				continue
			}
			// A frame that was read is written as it was, but for its age.
			sent.Received = time.Time{}
			head := AppendFrame(nil, m.Channel, sent, keep, time.Unix(0, 0))
			again, err := NewReader(bytes.NewReader(append(head, sent.JSON...))).Next()
			if err != nil {
				t.Fatal(err)
			}
			if got, kept, err := ParseFrame(again.Payload, time.Unix(0, 0)); err != nil || kept != keep || !cmp.Equal(sent, got, plain) {
				t.Fatal(err, cmp.Diff(sent, got, plain))
			}
		}
	})
}
