package watch

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// endings are the ways in which an answer ends that is longer than it may be. Each gets
// the whole answer and writes its beginning, of so many bytes.
var endings = map[string]struct {
	end func(w http.ResponseWriter, r *http.Request, whole string, longest int)
	// wantCause is in the error, which names the cause last.
	wantCause string
	// wantNothing: not a single object came.
	wantNothing bool
	// idle is how long the server may be silent in the fake time of a bubble, 0 for as long as by default, without a
	// bubble.
	idle time.Duration
}{
	"aborted, as an API server does at its time-out": {
		end: func(w http.ResponseWriter, _ *http.Request, whole string, longest int) {
			write(w, whole[:longest])
			panic(http.ErrAbortHandler)
		},
	},
	"as if it were complete": {
		end: func(w http.ResponseWriter, _ *http.Request, whole string, longest int) {
			write(w, whole[:longest])
		},
		wantCause: "unexpected EOF",
	},
	"between two objects": {
		end: func(w http.ResponseWriter, _ *http.Request, whole string, longest int) {
			write(w, whole[:strings.LastIndex(whole[:longest], ",{")])
		},
		wantCause: "unexpected EOF",
	},
	"compressed": {
		end: func(w http.ResponseWriter, _ *http.Request, whole string, longest int) {
			w.Header().Set("Content-Encoding", "gzip")
			compressor := gzip.NewWriter(w)
			_, _ = compressor.Write([]byte(whole[:longest]))
			_ = compressor.Flush() // without the end that Close writes
		},
		wantCause: "unexpected EOF",
	},
	"with a Status in place of the rest": {
		end: func(w http.ResponseWriter, _ *http.Request, whole string, longest int) {
			write(w, whole[:longest]+`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"SECRET","reason":"InternalError","code":500}`+"\n")
		},
		wantCause: "status 500 InternalError amid the list",
	},
	"silent from then on": {
		end: func(w http.ResponseWriter, r *http.Request, whole string, longest int) {
			write(w, whole[:longest])
			<-r.Context().Done()
		},
		wantCause: errIdleTimeout.Error(), idle: time.Second,
	},
	"silent before it began": {
		end:       func(_ http.ResponseWriter, r *http.Request, _ string, _ int) { <-r.Context().Done() },
		wantCause: errIdleTimeout.Error(), wantNothing: true, idle: time.Second,
	},
	"timed out before it began": {
		end: func(w http.ResponseWriter, _ *http.Request, _ string, _ int) {
			refuse(w, http.StatusGatewayTimeout, metav1.StatusReasonTimeout)
		},
		wantCause: "(no)", wantNothing: true,
	},
	"timed out at a proxy": {
		end: func(w http.ResponseWriter, _ *http.Request, _ string, _ int) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusGatewayTimeout)
			_, _ = w.Write([]byte("<html><body><h1>504 Gateway Time-out</h1></body></html>"))
		},
		wantCause: "the server was unable to return a response in the time allotted", wantNothing: true,
	},
}

// TestListEndsEarly: the state says so, and the list is complete in the end, by pages.
func TestListEndsEarly(t *testing.T) {
	const objects, longest = 100, 1500
	for protocol, serve := range map[string]func(*server){"HTTP1": func(s *server) { s.Start() }, "HTTP2": (*server).startHTTP2} {
		for name, test := range endings {
			whole := func(t *testing.T) {
				s, r := unstarted(t), newRecorder(t)
				if test.idle > 0 {
					s.inMemory()
				}
				serve(s)
				s.fill(objects)
				s.cutLists(longest, func(w http.ResponseWriter, r *http.Request, whole string) { test.end(w, r, whole, longest) })
				m := start(t, s, r, func(o *Options) { o.ListIdleTimeout = test.idle })
				acquire(t, m, podsKey)
				text := r.awaitFailure("the list of pods ended early after ")
				if !strings.Contains(text, test.wantCause) ||
					strings.Contains(text, " after 0 objects (0 bytes, ") != test.wantNothing || strings.Contains(text, "SECRET") {
					t.Errorf("err = %q", text)
				}
				r.await("the whole list", func() bool { return r.state.Synced && r.state.Err == nil && len(r.json) == objects })
				if s.requests("list rv=0 ") != 1 || m.ListsEndedEarly() == 0 {
					t.Errorf("%d lists ended early; asked:\n%s", m.ListsEndedEarly(), strings.Join(s.asked, "\n"))
				}
				s.set("later", object("later", "", ""))
				r.await("what follows", func() bool { return r.json["later"] != "" })
			}
			t.Run(protocol+"/"+name, func(t *testing.T) {
				if test.idle == 0 {
					whole(t)
					return
				}
				inBubble(t, whole)
			})
		}
	}
}

// TestServerThatKnowsNoPages: there is nothing to be done about it but to say so.
func TestServerThatKnowsNoPages(t *testing.T) {
	s, r := newHTTP2Server(t), newRecorder(t)
	body := `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[` + strings.Repeat("{"+object("a", "", "")+"},", 20)
	s.answer(func(w http.ResponseWriter, _ *http.Request, watch bool) bool {
		if watch {
			return false
		}
		write(w, body)
		panic(http.ErrAbortHandler)
	})
	acquire(t, start(t, s, r), podsKey)
	text := r.awaitFailure("the list of pods ended early after 20 objects (")
	if want := " and goes on in pages: "; !strings.Contains(text, want) {
		t.Errorf("err = %q, want %q in it", text, want)
	}
	r.await("what can be done", func() bool {
		return strings.Contains(r.state.Err.Error(), " and does not come in pages of 10 objects as asked for: ")
	})
	if r.count("state synced=true") > 0 {
		t.Error("synced by a list that ended early")
	}
}

// TestMalformedListIsNoEarlyEnd: malformed JSON is malformed in pages, too, also if the server then leaves the connection
// open.
func TestMalformedListIsNoEarlyEnd(t *testing.T) {
	const list = `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"x"}`
	for name, test := range map[string]struct {
		body string
		// idle is how long the server may be silent in the fake time of a bubble, 0 if it ends its answer.
		idle time.Duration
	}{
		"amid the items":                     {body: list + `},{,}]}`},
		"not at all":                         {body: `<html>`},
		"with a Status that is an object's":  {body: list + `,"spec":{"kind":"Status","status":"Failure"},}]}`},
		"then silent":                        {list + `},{,}`, time.Hour}, // the test would wait for it
		"silent where a Status may go on":    {list + `},{,{"ki`, time.Second},
		"silent where a Status has to go on": {list + `},{,{"kind":"Status",`, time.Second},
	} {
		relists := func(t *testing.T) {
			s, r := unstarted(t), newRecorder(t)
			if test.idle > 0 {
				s.inMemory()
			}
			s.Start()
			again := make(chan struct{}, 2)
			s.answer(func(w http.ResponseWriter, r *http.Request, watch bool) bool {
				if watch {
					return false
				}
				select {
				case again <- struct{}{}:
				case <-r.Context().Done():
				}
				if write(w, test.body); test.idle > 0 {
					<-r.Context().Done()
				}
				return true
			})
			m := start(t, s, r, func(o *Options) { o.ListIdleTimeout = test.idle })
			acquire(t, m, podsKey)
			r.awaitFailure("list pods: malformed JSON at byte ")
			<-again
			<-again
			if m.ListsEndedEarly() > 0 || s.requests("list rv= ") > 0 {
				t.Errorf("%d lists ended early; asked:\n%s", m.ListsEndedEarly(), strings.Join(s.asked, "\n"))
			}
		}
		t.Run(name, func(t *testing.T) {
			if test.idle == 0 {
				relists(t)
				return
			}
			inBubble(t, relists)
		})
	}
}

// TestSecretDataIsNotRetained: buffers keep no data of a Secret after a list that ended early,
// nor after the next list.
func TestSecretDataIsNotRetained(t *testing.T) {
	const begun = `{"kind":"SecretList","items":[{"metadata":{"name":"a"},"data":{"key":"SECRET`
	t.Run("in the list's buffer", func(t *testing.T) {
		text := []byte(begun)
		l := listReader{secret: true, take: func(*document, error) error { return nil }}
		_, err := l.read(bytes.NewBuffer(text)) // the decoder reads in its place
		if err == nil || bytes.Contains(text, []byte("SECRET")) {
			t.Errorf("%v; left: %s", err, text)
		}
	})
	t.Run("in a watch's buffer", func(t *testing.T) {
		text := []byte(`{"type":"ADDED","object":{"data":{"key":"SECRET`)
		f := newFrames(io.NopCloser(strings.NewReader("")), func() {}, "7", true)
		f.reader = jsonEvents{jsontext.NewDecoder(bytes.NewBuffer(text), tolerant...)}
		_, _, err := f.Decode()
		if err == nil || bytes.Contains(text, []byte("SECRET")) {
			t.Errorf("%v; left: %s", err, text)
		}
	})
	t.Run("where a Status is looked for", func(t *testing.T) {
		r := &buffers{Reader: iotest.HalfReader(strings.NewReader(strings.Repeat("SECRET", 4000)))}
		if err := statusAmid([]byte(begun+string(statusBegins)), r); err != nil {
			t.Error(err)
		}
		for _, buffer := range r.all {
			if len(bytes.Trim(buffer, "\x00")) > 0 {
				t.Fatalf("left: %d bytes", len(buffer))
			}
		}
	})
}
