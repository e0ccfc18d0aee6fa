package watch

import (
	"net/http"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestListThatIsAlwaysTooOld: the state says that no watch follows, however many lists there are.
func TestListThatIsAlwaysTooOld(t *testing.T) {
	for name, tooOld := range map[string]func(w http.ResponseWriter){
		"refused": func(w http.ResponseWriter) { refuse(w, http.StatusGone, metav1.StatusReasonExpired) },
		"ended at once": func(w http.ResponseWriter) {
			write(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}}`+"\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, r := newServer(t), newRecorder(t)
			s.set("a", object("a", "", ""))
			s.answer(func(w http.ResponseWriter, _ *http.Request, watch bool) bool {
				if watch {
					tooOld(w)
				}
				return watch
			})
			acquire(t, start(t, s, r), podsKey)
			r.awaitFailure("watch pods: " + errOutrun.Error())
			s.answer(nil)
			r.await("recovery", func() bool { return r.state.Synced && r.state.Err == nil })
		})
	}
}

// TestTruncatedEventRelists: the list has what the watch cannot bring.
func TestTruncatedEventRelists(t *testing.T) {
	for name, serve := range map[string]func(*testing.T) *server{"HTTP1": newServer, "HTTP2": newHTTP2Server} {
		t.Run(name, func(t *testing.T) {
			s, r := serve(t), newRecorder(t)
			s.set("a", object("a", "", ""))
			var once atomic.Bool
			s.answer(func(w http.ResponseWriter, _ *http.Request, watch bool) bool {
				if !watch {
					return false
				}
				if once.CompareAndSwap(false, true) {
					s.set("b", object("b", "", ""))
				}
				write(w, `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"`)
				panic(http.ErrAbortHandler)
			})
			acquire(t, start(t, s, r), podsKey)
			at := r.awaitLine(0, "set b")
			r.awaitFailure("watch pods: " + errEndedInEvent.Error())
			s.answer(nil)
			s.set("c", object("c", "", ""))
			r.awaitLine(at, "set c")
			r.await("recovery", func() bool { return r.state.Synced && r.state.Err == nil })
		})
	}
}
