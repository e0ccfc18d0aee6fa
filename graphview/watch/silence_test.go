package watch

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestSilentWatch checks that a watch whose server sent bookmarks ends when the server falls silent, and
// that it says since when the objects are not confirmed.
func TestSilentWatch(t *testing.T) {
	const bookmark = `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"8"}}}` + "\n"
	const added = `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"shop","uid":"1","resourceVersion":"8"}}}` + "\n"
	for name, test := range map[string]struct {
		first    string
		wantEnds bool
	}{
		"after a bookmark":       {first: bookmark, wantEnds: true},
		"a server without them":  {first: added},
		"after an event of each": {first: added + bookmark, wantEnds: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				body, server := io.Pipe()
				f := newFrames(body, func() { _ = body.CloseWithError(errors.New("canceled")) }, "7", false)
				go func() {
					_, _ = server.Write([]byte(test.first))
					time.Sleep(time.Hour) // longer than any interval of bookmarks
					_ = server.Close()
				}()
				began := time.Now()
				for {
					if _, _, err := f.Decode(); err != nil {
						break
					}
				}
				ended := time.Since(began) < time.Hour
				wantHeard := began
				if !test.wantEnds {
					wantHeard = time.Now() // the server ended the watch
				}
				if ended != test.wantEnds || errors.Is(f.lost, errIdleTimeout) != test.wantEnds || !f.heard.Equal(wantHeard) {
					t.Errorf("ended %t: %v, heard after %s", ended, f.lost, f.heard.Sub(began))
				}
				_ = body.Close()
				time.Sleep(2 * time.Hour) // until the server has ended
			})
		})
	}
}

// TestLostConnection checks that the objects of a watch whose connection is lost are unconfirmed at once,
// although the watch goes on with the next connection.
func TestLostConnection(t *testing.T) {
	for name, test := range map[string]struct {
		end  error
		want bool
	}{
		"cut":               {end: errors.New("connection reset by peer"), want: true},
		"ended by a server": {end: io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			body, server := io.Pipe()
			f := newFrames(body, func() {}, "7", false)
			_ = server.CloseWithError(test.end)
			if _, _, err := f.Decode(); !errors.Is(err, io.EOF) {
				t.Errorf("%v", err)
			}
			if (f.lost != nil) != test.want {
				t.Errorf("lost: %v", f.lost)
			}
		})
	}
}

// TestConnectionLostBeforeTheWatch checks that the objects are unconfirmed since the last answer of the
// server, not since the end of a watch request that it did not answer.
func TestConnectionLostBeforeTheWatch(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	s.set("a", object("a", "", ""))
	asked := make(chan time.Time, 1)
	var once sync.Once
	s.answer(func(_ http.ResponseWriter, req *http.Request, watch bool) bool {
		if !watch {
			return false
		}
		once.Do(func() {
			asked <- time.Now()
			<-req.Context().Done() // the end of the connection, below
		})
		panic(http.ErrAbortHandler)
	})
	acquire(t, start(t, s, r), podsKey)
	at := <-asked
	time.Sleep(10 * time.Millisecond) // between the request and its end
	s.CloseClientConnections()
	r.await("failure", func() bool { return r.state.Err != nil })
	if r.state.Heard.After(at) {
		t.Errorf("heard %s after the request: %v", r.state.Heard.Sub(at), r.state.Err)
	}
}
