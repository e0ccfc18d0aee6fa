package watch

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// fillScene is a lease of a watch that wants "shop", where there is one pod.
type fillScene struct {
	*testing.T

	s     *spaces
	m     *mirror
	lease func() *wanting
	l     *wanting
}

// listing has the lease want "a" too, and returns when the server has made the list of that.
// The answer comes with release.
func (c *fillScene) listing() (release func()) {
	reached, release := c.s.hold("list a", true)
	c.l.want("shop", "a")
	<-reached
	return release
}

// TestFill: a namespace that comes to be wanted while the watch runs is listed by
// itself, and whatever happens meanwhile, what is retained of it is what there is.
func TestFill(t *testing.T) {
	tests := map[string]struct {
		before func(*spaces)    // the first list
		do     func(*fillScene) // ends with "shop" and "a" wanted, unless want says so
		want   []string
		// wantLog are the lines about namespace "a".
		wantLog []string
	}{
		"listed": {
			before:  func(s *spaces) { s.put("a", "x", 1) },
			do:      func(c *fillScene) { c.l.want("shop", "a") },
			wantLog: []string{"set a/x uid-3 map[n:1]"},
		},
		"empty": {do: func(c *fillScene) { c.l.want("shop", "a") }},
		"listed in pages": {
			before: func(s *spaces) {
				s.pageOf = 2
				for i := range 5 {
					s.put("a", fmt.Sprint("x", i), i)
				}
			},
			do: func(c *fillScene) { c.l.want("shop", "a") },
			wantLog: []string{
				"set a/x0 uid-3 map[n:0]", "set a/x1 uid-4 map[n:1]", "set a/x2 uid-5 map[n:2]", "set a/x3 uid-6 map[n:3]", "set a/x4 uid-7 map[n:4]",
			},
		},
		"the watch tells of a change before the list comes": {
			before: func(s *spaces) { s.put("a", "x", 1) },
			do: func(c *fillScene) {
				release := c.listing()
				c.s.put("a", "x", 2)
				c.m.told("a", "x", "map[n:2]")
				release()
			},
			wantLog: []string{"set a/x uid-3 map[n:2]"},
		},
		"the watch tells of a deletion before the list comes": {
			before: func(s *spaces) { s.put("a", "x", 1); s.put("a", "y", 1) },
			do: func(c *fillScene) {
				release := c.listing()
				c.s.remove("a", "x")
				c.s.put("shop", "last", 1)
				c.m.told("shop", "last", "map[n:1]")
				release()
			},
			wantLog: []string{"set a/y uid-4 map[n:1]"},
		},
		"the watch tells of a deletion in the last version before the list comes": {
			before: func(s *spaces) { s.lastVersion = true; s.put("a", "x", 1) },
			do: func(c *fillScene) {
				release := c.listing()
				c.s.remove("a", "x")
				c.s.put("shop", "last", 1)
				c.m.told("shop", "last", "map[n:1]")
				release()
			},
		},
		"deleted and made again before the list comes": {
			before: func(s *spaces) { s.put("a", "x", 1) },
			do: func(c *fillScene) {
				release := c.listing()
				c.s.remove("a", "x")
				c.s.put("a", "x", 1)
				c.m.told("a", "x", "map[n:1]")
				release()
			},
			wantLog: []string{"set a/x uid-5 map[n:1]"},
		},
		"made and deleted again before the list comes": {
			do: func(c *fillScene) {
				release := c.listing()
				c.s.put("a", "x", 1)
				c.m.told("a", "x", "map[n:1]")
				c.s.remove("a", "x")
				c.m.told("a", "x", "")
				release()
			},
			wantLog: []string{"set a/x uid-3 map[n:1]", "delete a/x"},
		},
		"the list is ahead of the watch": {
			before: func(s *spaces) { s.put("a", "changed", 1); s.put("a", "deleted", 1); s.put("a", "again", 1) },
			do: func(c *fillScene) {
				reached, release := c.s.hold("event", true)
				c.s.hangUp(false) // the watch that follows holds up its events
				c.s.put("shop", "first", 1)
				<-reached
				c.s.put("a", "changed", 2)
				c.s.put("a", "changed", 3)
				c.s.remove("a", "deleted")
				c.s.remove("a", "again")
				c.s.put("a", "again", 2)
				c.s.put("a", "brief", 1)
				c.s.remove("a", "brief")
				c.l.want("shop", "a")
				c.m.told("a", "changed", "map[n:3]")
				c.m.until(func() string {
					if !c.m.filled[c.l.wanted[0]] || !c.m.filled[c.l.wanted[1]] {
						return "not filled"
					}
					return ""
				})
				release()
				c.s.put("a", "changed", 4)
				c.m.told("a", "changed", "map[n:4]")
			},
			// Nothing older is told, and nothing that is gone.
			wantLog: []string{"set a/again uid-11 map[n:2]", "set a/changed uid-3 map[n:3]", "set a/changed uid-3 map[n:4]"},
		},
		"a page of the list is ahead of the watch": {
			before: func(s *spaces) { s.pageOf = 1; s.put("a", "again", 1); s.put("a", "last", 1) },
			do: func(c *fillScene) {
				events, release := c.s.hold("event", true)
				c.s.hangUp(false)
				c.s.put("shop", "first", 1)
				<-events
				c.s.remove("a", "again")
				c.s.put("a", "again", 2)
				pages, more := c.s.hold("list a", true)
				c.l.want("shop", "a")
				<-pages
				c.s.script(func() { c.s.after = nil }) // of the first page alone
				seconds, rest := c.s.hold("list a", false)
				more()
				<-seconds
				c.m.told("a", "again", "map[n:2]")
				release()
				c.s.put("shop", "cart", 2)
				c.m.told("shop", "cart", "map[n:2]")
				rest()
			},
			wantLog: []string{"set a/again uid-7 map[n:2]", "set a/last uid-4 map[n:1]"},
		},
		"all is listed anew before the list comes": {
			before: func(s *spaces) { s.put("a", "x", 1); s.put("a", "y", 1) },
			do: func(c *fillScene) {
				release := c.listing()
				c.s.remove("a", "y")
				c.s.hangUp(true)
				c.m.told("a", "x", "map[n:1]")
				c.m.equals(c.s, c.l)
				c.s.remove("a", "x")
				c.m.told("a", "x", "")
				release()
				c.s.put("shop", "last", 1)
				c.m.told("shop", "last", "map[n:1]")
			},
			wantLog: []string{"set a/x uid-3 map[n:1]", "delete a/x"},
		},
		"wanted while all is listed anew": {
			before: func(s *spaces) { s.put("a", "x", 1); s.put("a", "y", 1) },
			do: func(c *fillScene) {
				reached, release := c.s.hold("list", true)
				c.s.hangUp(true)
				<-reached
				c.s.put("a", "x", 2)
				c.s.remove("a", "y")
				c.l.want("shop", "a")
				release()
			},
		},
		"while there is no watch": {
			before: func(s *spaces) { s.put("a", "x", 1); s.put("a", "y", 1) },
			do: func(c *fillScene) {
				reached, release := c.s.hold("watch", false)
				c.s.hangUp(false)
				<-reached
				c.s.put("a", "x", 2)
				c.l.want("shop", "a")
				c.m.told("a", "x", "map[n:2]")
				c.s.remove("a", "y")
				release()
			},
		},
		"the list fails twice": {
			before: func(s *spaces) { s.put("a", "x", 1) },
			do: func(c *fillScene) {
				failures := 2
				c.s.script(func() {
					c.s.answer = func(request string) int {
						if request != "list a" || failures == 0 {
							return 0
						}
						failures--
						return http.StatusTooManyRequests
					}
				})
				c.l.want("shop", "a")
				c.m.equals(c.s, c.l)
				c.m.until(func() string {
					for n, times := range c.m.failed {
						if n.Namespace() == "a" && times == 2 {
							return ""
						}
					}
					return fmt.Sprintf("failed %v times, want twice", c.m.failed)
				})
			},
			wantLog: []string{"set a/x uid-3 map[n:1]"},
		},
		"the watch tells of a fault before the list comes": {
			before: func(s *spaces) { s.put("a", "x", 1) },
			do: func(c *fillScene) {
				release := c.listing()
				c.s.send("MODIFIED", `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","namespace":"a","uid":"uid-3","resourceVersion":"VERSION"},"spec":"`+"\xff"+`"}`)
				c.m.until(func() string {
					if len(c.m.log) == 0 || !strings.HasPrefix(c.m.log[len(c.m.log)-1], "invalid a/x") {
						return "not told of what cannot be read"
					}
					return ""
				})
				release()
				c.m.until(func() string {
					if !c.m.filled[c.l.wanted[0]] || !c.m.filled[c.l.wanted[1]] {
						return "not filled"
					}
					return ""
				})
				c.s.put("a", "x", 2)
			},
			wantLog: []string{"invalid a/x: not UTF-8", "invalid a/x: <nil>", "set a/x uid-3 map[n:2]"},
		},
		"too many deletions before the list comes": {
			before: func(s *spaces) { s.put("a", "x", 1) },
			do: func(c *fillScene) {
				release := c.listing()
				w := c.l.lease.Watch()
				if err := w.lock(c.Context()); err != nil {
					c.Fatal(err)
				}
				for i := range maxTold + 1 {
					w.wants.deleted(&document{namespace: []byte("a"), name: fmt.Append(nil, i), resourceVersion: []byte("3")}, nil)
				}
				w.unlock()
				release()
				c.m.equals(c.s, c.l)
				c.m.until(func() string {
					for n, times := range c.m.failed {
						if n.Namespace() == "a" && times == 1 {
							return ""
						}
					}
					return fmt.Sprintf("failed %v times, want once", c.m.failed)
				})
			},
			wantLog: []string{"set a/x uid-3 map[n:1]"},
		},
		"no longer wanted before the list comes": {
			before: func(s *spaces) { s.put("a", "x", 1) },
			do: func(c *fillScene) {
				release := c.listing()
				c.s.put("a", "y", 1)
				c.m.told("a", "y", "map[n:1]")
				c.l.want("shop")
				c.m.told("a", "y", "")
				release()
			},
			want: []string{"shop"}, wantLog: []string{"set a/y uid-4 map[n:1]", "delete a/y"},
		},
		"wanted by another before it is forgotten": {
			before: func(s *spaces) { s.put("a", "x", 1) },
			do: func(c *fillScene) {
				c.l.want("shop", "a")
				c.m.equals(c.s, c.l)
				w := c.l.lease.Watch()
				if err := w.lock(c.Context()); err != nil {
					c.Fatal(err)
				}
				c.l.want("shop")
				other := c.lease()
				other.want("a", "shop")
				w.unlock()
				c.m.equals(c.s, other)
				c.l = other
			},
			wantLog: []string{"set a/x uid-3 map[n:1]"},
		},
		"the version is no number": {
			before: func(s *spaces) { s.words = true; s.put("a", "x", 1) },
			do: func(c *fillScene) {
				c.l.want("shop", "a")
				c.m.equals(c.s, c.l)
				if n := c.s.requests("list"); n != 2 {
					c.Errorf("all was listed %d times, want twice", n)
				}
			},
			wantLog: []string{"set a/x uid-3 map[n:1]"},
		},
		"many at once": {
			before: func(s *spaces) { s.put("a", "x", 1) },
			do: func(c *fillScene) {
				many := []string{"shop", "a"}
				for i := range 30 {
					many = append(many, fmt.Sprint("b", i))
				}
				c.l.want(many...)
				c.m.equals(c.s, c.l)
				if all, one := c.s.requests("list"), c.s.requests("list a"); all != 2 || one != 0 {
					c.Errorf("all was listed %d times, want twice; one namespace %d times", all, one)
				}
				c.l.want("shop", "a")
			},
			wantLog: []string{"set a/x uid-3 map[n:1]"},
		},
		"many at once time and again": {
			before: func(s *spaces) { s.put("a", "x", 1) },
			do: func(c *fillScene) {
				for _, batch := range []string{"b", "c"} {
					many := []string{"shop", "a"}
					for i := range 30 {
						many = append(many, fmt.Sprint(batch, i))
					}
					c.l.want(many...)
					c.m.equals(c.s, c.l)
				}
				if all, one := c.s.requests("list"), c.s.requests("list c0"); all != 2 || one != 1 {
					c.Errorf("all was listed %d times, want twice; one namespace %d times, want once", all, one)
				}
				c.l.want("shop", "a")
			},
			wantLog: []string{"set a/x uid-3 map[n:1]"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, m := newSpaces(t), newMirror(t)
			s.put("shop", "cart", 1)
			if test.before != nil {
				test.before(s)
			}
			lease := followSpaces(t, s, m)
			c := &fillScene{t, s, m, lease, lease()}
			c.l.want("shop")
			m.equals(s, c.l)
			if got := m.lines("set a/"); got != 0 {
				t.Fatalf("%d objects were told that nobody wants", got)
			}
			test.do(c)
			m.equals(s, c.l)
			var namespaces []string
			for _, n := range c.l.wanted {
				namespaces = append(namespaces, n.Namespace())
			}
			slices.Sort(namespaces)
			if test.want == nil {
				test.want = []string{"a", "shop"}
			}
			if !slices.Equal(namespaces, test.want) {
				t.Errorf("wanted: %q", namespaces)
			}
			var log []string
			for _, line := range m.log {
				if strings.Contains(line, " a/") {
					log = append(log, line)
				}
			}
			if test.wantLog != nil && !slices.Equal(log, test.wantLog) {
				t.Errorf("told %q, want %q", log, test.wantLog)
			}
		})
	}
}
