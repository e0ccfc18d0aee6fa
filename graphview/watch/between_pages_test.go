package watch

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestChangesBetweenPages: whatever is created, changed and deleted while a list is
// read in pages, and whichever of these end early, are refused or too old, what is
// retained in the end is what there is, and nothing has gone back on the way.
func TestChangesBetweenPages(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s, r := newServer(t), newRecorder(t)
			for i := range 40 {
				s.set(fmt.Sprintf("object-%02d", i), object(fmt.Sprintf("object-%02d", i), "", ""))
			}
			changeAmidLists(s, rand.New(rand.NewPCG(seed, 1)))
			acquire(t, start(t, s, r), podsKey)
			r.await("the first list", func() bool { return r.state.Synced })
			s.send("ERROR", `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`)
			s.set("last-of-all", object("last-of-all", "", ""))
			r.await("the last object", func() bool { return r.json["last-of-all"] != "" })
			r.await("all there is", func() bool { return maps.Equal(versions(r.json), s.versions()) && r.state.Err == nil })
			for _, line := range r.lines() {
				if strings.HasPrefix(line, "invalid") {
					t.Error(line)
				}
			}
			for _, name := range r.wentBack() {
				t.Errorf("%s went back to an older version", name)
			}
		})
	}
}

// changeAmidLists has a server change between the pages of lists, and fail, as the dice
// say, until it has for long enough.
func changeAmidLists(s *server, dice *rand.Rand) {
	var turn sync.Mutex
	left := 60
	s.answer(func(w http.ResponseWriter, r *http.Request, watch bool) bool {
		if watch {
			return false
		}
		turn.Lock()
		defer turn.Unlock()
		if left == 0 {
			return false
		}
		left--
		for range dice.IntN(4) {
			name := fmt.Sprintf("object-%02d", dice.IntN(50))
			if dice.IntN(2) == 0 {
				s.set(name, object(name, "", fmt.Sprintf(`,"spec":{"n":%d}`, dice.Int())))
			} else if s.has(name) {
				s.delete(name)
			}
		}
		switch dice.IntN(10) {
		case 0:
			s.compact()
		case 1:
			refuse(w, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests)
			return true
		case 2, 3:
			if body, _, ok := s.list(r.URL.Query()); ok {
				write(w, body[:dice.IntN(len(body))])
				panic(http.ErrAbortHandler)
			}
		case 4:
			w.WriteHeader(http.StatusBadGateway)
			return true
		case 5:
			s.forgetPages()
		}
		return false
	})
}

func (s *server) has(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.objects[name]
	return ok
}

// versions are the resource versions of what there is, by name.
func (s *server) versions() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]string{}
	for name := range s.objects {
		all[name] = version(s.render(name, ""))
	}
	return all
}

func versions(objects map[string]string) map[string]string {
	all := map[string]string{}
	for name, json := range objects {
		all[name] = version(json)
	}
	return all
}

// version is what an object says of its resource version.
func version(json string) string {
	_, rest, _ := strings.Cut(json, `"resourceVersion":"`)
	number, _, _ := strings.Cut(rest, `"`)
	return number
}

// TestRenewedListShowsNothingOlder: where the rest of a list is of a later version than its
// first page, the watch tells again what that rest has already. Nothing goes back to what
// it was in between. What the watch tells of the first page's objects is news.
func TestRenewedListShowsNothingOlder(t *testing.T) {
	for name, key := range map[string]Key{"all": podsKey, "wanted namespaces": partialKey} {
		t.Run(name, func(t *testing.T) {
			s, r := newServer(t), newRecorder(t)
			put := func(name, n string) { s.set(name, object(name, "", `,"spec":{"n":`+n+`}`)) }
			for _, name := range []string{"a-changes", "a-goes", "z-changes", "z-goes", "z-returns", "z-stays"} {
				put(name, "1")
			}
			lease := acquire(t, start(t, s, r), key)
			if key.Partial {
				lease.Want(map[string]bool{"shop": true})
			}
			at := r.awaitLine(0, "state synced=true")

			cut, changed := false, false
			s.answer(func(w http.ResponseWriter, r *http.Request, watch bool) bool {
				switch {
				case watch:
				case !cut: // so that pages of two follow
					cut = true
					body, _, _ := s.list(r.URL.Query())
					before, _, _ := strings.Cut(body, `{"metadata":{"name":"z-returns"`)
					write(w, before)
					return true
				case !changed && r.URL.Query().Get("continue") != "":
					changed = true
					put("a-changes", "2")
					put("a-fresh", "2")
					s.delete("a-goes")
					put("z-changes", "2")
					put("z-goes", "2")
					s.delete("z-goes")
					s.delete("z-returns")
					put("z-fresh", "2")
					put("z-returns", "3")
					put("a-changes", "3")
					put("z-changes", "3")
					s.forgetPages()
				}
				return false
			})
			s.send("ERROR", `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`)
			r.await("the list and the watch after it", func() bool { return strings.Contains(r.json["a-changes"], `"n":3`) })
			put("z-goes", "4")
			put("z-last", "4")
			r.awaitLine(at, "set z-last")

			got := map[string]string{}
			for _, line := range r.lines()[at:] {
				if what, name, ok := strings.Cut(line, " "); ok && (what == "set" || what == "delete") {
					got[name] = strings.TrimSpace(got[name] + " " + what)
				}
			}
			want := map[string]string{
				"a-changes": "set set", "a-fresh": "set", "a-goes": "delete",
				"z-changes": "set", "z-fresh": "set", "z-goes": "delete set", "z-returns": "set", "z-last": "set",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("what was told (-want +got):\n%s\n%s", diff, strings.Join(r.lines()[at:], "\n"))
			}
		})
	}
}

// forgetPages forgets the versions of lists that are being read, but not what has changed.
func (s *server) forgetPages() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.snapshots)
}
