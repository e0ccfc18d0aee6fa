package watch

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestRefusedAfterConnecting(t *testing.T) {
	tests := map[string]struct {
		code       int
		reason     metav1.StatusReason
		wantReason Reason
		// wantKept: what was there is still shown.
		wantKept bool
	}{
		"forbidden":  {http.StatusForbidden, metav1.StatusReasonForbidden, Forbidden, false},
		"not found":  {http.StatusNotFound, metav1.StatusReasonNotFound, NotServed, true},
		"no method":  {http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, NotServed, true},
		"no, no why": {http.StatusForbidden, "", Forbidden, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, r := newServer(t), newRecorder(t)
			s.set("a", object("a", "", ""))
			w := acquire(t, start(t, s, r), podsKey).Watch()
			at := r.awaitLine(0, "state synced=true")
			s.answer(func(w http.ResponseWriter, _ *http.Request, _ bool) bool {
				refuse(w, test.code, test.reason)
				return true
			})
			s.hangUp()
			if test.wantKept {
				at = r.awaitLine(at, "state synced=true "+string(test.wantReason)+" 1")
			} else {
				at = r.awaitLine(at, "delete a")
				at = r.awaitLine(at, "state synced=false "+string(test.wantReason)+" 0")
			}
			if got := w.State(); got.Err == nil || got.Since.IsZero() {
				t.Errorf("state = %+v", got)
			}
			s.answer(nil)
			if !test.wantKept {
				at = r.awaitLine(at, "set a")
			}
			r.awaitLine(at, "state synced=true UpToDate 1")
		})
	}
}

// TestRefused: a refusal that another one follows deletes the objects. A single one does not: an API server that
// starts sends it before it has read its roles.
func TestRefused(t *testing.T) {
	for name, again := range map[string]bool{"once": false, "twice": true} {
		t.Run(name, func(t *testing.T) {
			s, r := newServer(t), newRecorder(t)
			s.set("a", object("a", "", ""))
			acquire(t, start(t, s, r), podsKey)
			at := r.awaitLine(0, "state synced=true")
			s.answer(func(w http.ResponseWriter, _ *http.Request, _ bool) bool {
				if again {
					refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden)
				}
				return again
			})
			s.send("ERROR", `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`)
			at = r.awaitLine(at, "state synced=true Failing")
			if again {
				at = r.awaitLine(r.awaitLine(at, "delete a"), "state synced=false Forbidden")
				s.answer(nil)
			}
			r.awaitLine(at, "state synced=true UpToDate")
			if got := r.count("delete a"); (got > 0) != again {
				t.Errorf("the object was deleted %d times", got)
			}
		})
	}
}

func TestListAllowedWatchForbidden(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	s.set("a", object("a", "", ""))
	refused := make(chan struct{})
	s.answer(func(w http.ResponseWriter, _ *http.Request, watch bool) bool {
		if watch {
			select {
			case refused <- struct{}{}:
			case <-t.Context().Done():
			}
			refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden)
		}
		return watch
	})
	acquire(t, start(t, s, r), podsKey)
	for range 5 {
		<-refused
	}
	r.awaitLine(0, "state synced=false Forbidden")
	if got := r.count("set a"); got > 1 {
		t.Errorf("objects came and went %d times", got)
	}
	s.answer(nil)
	r.await("recovery", func() bool { return r.state.Synced })
}

func TestFailuresKeepObjects(t *testing.T) {
	tests := map[string]func(w http.ResponseWriter){
		"500": func(w http.ResponseWriter) {
			refuse(w, http.StatusInternalServerError, metav1.StatusReasonInternalError)
		},
		"429":           func(w http.ResponseWriter) { refuse(w, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests) },
		"no Kubernetes": func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) },
		"truncated":     func(w http.ResponseWriter) { write(w, `{"kind":"PodList","apiVersion":"v1","items":[{"metadata"`) },
		"no list":       func(w http.ResponseWriter) { write(w, `{"kind":"Status","apiVersion":"v1"}`) },
		"no JSON":       func(w http.ResponseWriter) { write(w, `<html>`) },
		"empty":         func(w http.ResponseWriter) { write(w, ``) },
		"no answer":     func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"malformed item": func(w http.ResponseWriter) {
			write(w, `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"x"}},{,}]}`)
		},
	}
	for name, fail := range tests {
		t.Run(name, func(t *testing.T) {
			s, r := newServer(t), newRecorder(t)
			s.set("a", object("a", "", ""))
			w := acquire(t, start(t, s, r), podsKey).Watch()
			at := r.awaitLine(0, "state synced=true")
			s.answer(func(w http.ResponseWriter, _ *http.Request, watch bool) bool {
				if watch {
					refuse(w, http.StatusInternalServerError, metav1.StatusReasonInternalError)
				} else {
					fail(w)
				}
				return true
			})
			s.hangUp()
			at = r.awaitLine(at, "state synced=true Failing")
			r.await("a failed list", func() bool { return strings.Contains(r.state.Err.Error(), "list ") })
			first := w.State()
			if first.Since.IsZero() || first.Err == nil || first.Objects < 1 {
				t.Errorf("state = %+v", first)
			}
			if text := first.Err.Error(); strings.Contains(text, "http:") || strings.Contains(text, "?") {
				t.Errorf("the error names the request: %q", text)
			}
			s.answer(nil)
			r.awaitLine(at, "state synced=true UpToDate")
			if got := r.count("delete a"); got > 0 {
				t.Error("the object was deleted")
			}
			r.await("confirmation", func() bool { return r.state.Err == nil && r.state.Since.IsZero() })
		})
	}
}

func TestRejectedSelector(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	s.answer(func(w http.ResponseWriter, _ *http.Request, _ bool) bool {
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
		return true
	})
	key := podsKey
	key.FieldSelector = "spec.nonsense=1"
	acquire(t, start(t, s, r), key)
	r.awaitLine(0, "state synced=false Rejected 0")
}

func TestTruncatedEventResumes(t *testing.T) {
	tests := map[string]struct {
		serve   func(*testing.T) *server
		begun   string // of an event
		aborted bool
	}{
		"the type":             {newServer, `{"type":"MODI`, false},
		"within an object":     {newServer, `{"type":"MODIFIED","object":{"metadata":{"name":"`, false},
		"aborted":              {newServer, `{"type":"MODIFIED","object":{"metadata":{"name":"`, true},
		"aborted, with HTTP/2": {newHTTP2Server, `{"type":"MODIFIED","object":{"metadata":{"name":"`, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, r := test.serve(t), newRecorder(t)
			s.set("a", object("a", "", ""))
			var truncated atomic.Bool
			s.answer(func(w http.ResponseWriter, _ *http.Request, watch bool) bool {
				if !watch || !truncated.CompareAndSwap(false, true) {
					return false
				}
				write(w, `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1",`+object("b", "", "")+`}}`+"\n"+test.begun)
				if test.aborted {
					panic(http.ErrAbortHandler)
				}
				return true
			})
			acquire(t, start(t, s, r), podsKey)
			r.awaitLine(0, "set b")
			s.set("c", object("c", "", ""))
			r.awaitLine(0, "set c")
			// A connection that is lost leaves the objects unconfirmed until the next watch begins.
			want := 1
			if test.aborted {
				want = 3
			}
			if got := r.count("state"); got != want {
				t.Errorf("states: %q, want %d", r.lines(), want)
			}
			if got := s.requests("list"); got != 1 {
				t.Errorf("%d lists, want 1", got)
			}
		})
	}
}

func TestMalformedEventRelists(t *testing.T) {
	tests := map[string]string{
		"no JSON":   `{"type":"ADDED","object":{,}}`,
		"no event":  `{"what":1}`,
		"no object": `[]`,
		"no status": `{"type":"ERROR","object":7}`,
	}
	for name, frame := range tests {
		t.Run(name, func(t *testing.T) {
			s, r := newServer(t), newRecorder(t)
			var sent atomic.Bool
			s.answer(func(w http.ResponseWriter, _ *http.Request, watch bool) bool {
				if !watch || !sent.CompareAndSwap(false, true) {
					return false
				}
				write(w, frame+"\n")
				return true
			})
			acquire(t, start(t, s, r), podsKey)
			at := r.awaitLine(0, "state synced=true Failing")
			r.awaitLine(at, "state synced=true UpToDate")
			if got := s.requests("list"); got != 2 {
				t.Errorf("%d lists, want 2", got)
			}
		})
	}
}

func TestUnknownEventIsPassedOver(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	acquire(t, start(t, s, r), podsKey)
	r.awaitLine(0, "state synced=true")
	s.send("REJOICED", `{"kind":"Pod"}`)
	s.set("a", object("a", "", ""))
	r.awaitLine(0, "set a")
	if got := r.count("state"); got != 1 {
		t.Errorf("states: %q", r.lines())
	}
}

func TestWatchThatEndsAtOnceIsAFailure(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	s.answer(func(w http.ResponseWriter, _ *http.Request, watch bool) bool {
		if watch {
			write(w, "")
		}
		return watch
	})
	acquire(t, start(t, s, r, func(o *Options) { o.Retry.Duration = 100 * time.Millisecond }), podsKey)
	at := r.awaitLine(0, "state synced=true Failing")
	s.answer(nil)
	r.awaitLine(at, "state synced=true UpToDate")
}
