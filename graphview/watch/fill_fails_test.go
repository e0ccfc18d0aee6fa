package watch

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestForbiddenEndsFills: what is being listed of a namespace is not taken in after the
// answer that nothing may be read.
func TestForbiddenEndsFills(t *testing.T) {
	s, m := newSpaces(t), newMirror(t)
	s.put("shop", "cart", 1)
	s.put("a", "x", 1)
	l := followSpacesAfter(t, s, m, time.Hour)()
	l.want("shop")
	m.equals(s, l)
	reached, release := s.hold("list a", true)
	l.want("shop", "a")
	<-reached
	s.put("shop", "cart", 2) // so that the watch has come to something
	m.told("shop", "cart", "map[n:2]")
	s.script(func() { s.answer = func(string) int { return http.StatusForbidden } })
	s.hangUp(false)
	m.until(func() string {
		if m.state.Reason != Forbidden || len(m.objects) > 0 {
			return fmt.Sprintf("state %+v, there are %v", m.state, m.objects)
		}
		return ""
	})
	release()
	l.settled()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.objects) > 0 || m.filled[l.wanted[0]] && m.filled[l.wanted[1]] {
		t.Errorf("there are %v, filled %v, though nothing may be read", m.objects, m.filled)
	}
}

// spacesOfFive has a namespace of five objects beside the shop.
func spacesOfFive(t *testing.T) *spaces {
	t.Helper()
	s := newSpaces(t)
	s.put("shop", "cart", 1)
	for i := range 5 {
		s.put("a", fmt.Sprint("x", i), i)
	}
	return s
}

// TestFillGoesOnAfterAnEarlyEnd: a page of a namespace that ends early is asked for again
// with fewer objects, and what came before is not.
func TestFillGoesOnAfterAnEarlyEnd(t *testing.T) {
	s, m := spacesOfFive(t), newMirror(t)
	l := followSpacesAfter(t, s, m, time.Hour)()
	l.want("shop")
	m.equals(s, l)
	asked := 0
	s.script(func() {
		s.pageOf = 2
		s.answer = func(request string) int {
			if request != "list a" {
				return 0
			}
			if asked++; asked == 2 || asked == 3 {
				return http.StatusGatewayTimeout
			}
			return 0
		}
	})
	l.want("shop", "a")
	m.equals(s, l)
	if n := s.requests("list a"); n != 5 {
		t.Errorf("%d requests for three pages, of which two answers ended early", n)
	}
	if early := l.lease.manager.ListsEndedEarly(); early != 2 {
		t.Errorf("%d answers are counted as ended early, want 2", early)
	}
}

// TestFillOfAServerThatRepeatsAPage: it fails, and is tried again later.
func TestFillOfAServerThatRepeatsAPage(t *testing.T) {
	s, m := spacesOfFive(t), newMirror(t)
	l := followSpaces(t, s, m)()
	l.want("shop")
	m.equals(s, l)
	s.script(func() { s.pageOf, s.repeats = 2, true })
	l.want("shop", "a")
	m.until(func() string {
		if len(m.failed) == 0 {
			return "no failure was told"
		}
		return ""
	})
	s.script(func() { s.repeats = false })
	m.equals(s, l)
}

// TestFillThatComesToNoEnd: where the lists of one namespace come to no end, all namespaces
// are listed instead. Views are told why until then.
func TestFillThatComesToNoEnd(t *testing.T) {
	tests := map[string]struct {
		script func(*spaces)
		want   string // of the failures
	}{
		"the server repeats pages": {
			script: func(s *spaces) { s.pageOf, s.repeats = 2, true },
			want:   "list pods in a: the server repeats a page",
		},
		"answers end early, however few objects they have": {
			script: func(s *spaces) {
				s.answer = func(request string) int {
					if request == "list a" {
						return http.StatusGatewayTimeout
					}
					return 0
				}
			},
			want: "list pods in a: a page of the list of pods ended early after 0 objects",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, m := spacesOfFive(t), newMirror(t)
			l := followSpaces(t, s, m)()
			l.want("shop")
			m.equals(s, l)
			s.script(func() { test.script(s) })
			l.want("shop", "a")
			m.equals(s, l)
			if n := s.requests("list"); n != 2 {
				t.Errorf("all was listed %d times, want twice", n)
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			for n, times := range m.failed {
				if n.Namespace() != "a" || times != fruitlessFills {
					t.Errorf("%s failed %d times, want %d times in a", n.Namespace(), times, fruitlessFills)
				}
			}
			if len(m.failures) == 0 || !strings.HasPrefix(m.failures[0], test.want) {
				t.Errorf("told %q, want %q", m.failures, test.want)
			}
		})
	}
}

// TestFailingNamespaceDelaysNoOther: a namespace that cannot be listed waits, and one
// that comes to be wanted meanwhile does not.
func TestFailingNamespaceDelaysNoOther(t *testing.T) {
	s, m := newSpaces(t), newMirror(t)
	s.put("shop", "cart", 1)
	s.put("b", "y", 1)
	l := followSpacesAfter(t, s, m, time.Hour)()
	l.want("shop")
	m.equals(s, l)
	s.script(func() {
		s.answer = func(request string) int {
			if request == "list a" {
				return http.StatusTooManyRequests
			}
			return 0
		}
	})
	l.want("shop", "a")
	m.until(func() string {
		if len(m.failed) == 0 {
			return "no failure was told"
		}
		return ""
	})
	l.want("shop", "a", "b")
	m.told("b", "y", "map[n:1]")
	if n := s.requests("list a"); n != 1 {
		t.Errorf("what fails was listed %d times, want once", n)
	}
	l.want("shop", "b")
	m.equals(s, l)
}
