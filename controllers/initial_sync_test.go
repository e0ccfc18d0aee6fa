package controllers

import (
	"testing"

	"graphview.dev/graphview"
)

func TestInitialSync(t *testing.T) {
	name := func(n string) graphview.Name { return graphview.Name{Namespace: "shop", Name: n} }
	for title, tc := range map[string]struct {
		before, listed, after []graphview.Name
		want                  bool
	}{
		"not listed":            {before: []graphview.Name{name("a")}},
		"none there":            {listed: []graphview.Name{}, want: true},
		"all told before":       {before: []graphview.Name{name("a"), name("b")}, listed: []graphview.Name{name("a")}, want: true},
		"one missing":           {before: []graphview.Name{name("a")}, listed: []graphview.Name{name("a"), name("b")}},
		"told after":            {listed: []graphview.Name{name("a"), name("b")}, after: []graphview.Name{name("b"), name("a")}, want: true},
		"told again":            {listed: []graphview.Name{name("a")}, after: []graphview.Name{name("a"), name("a")}, want: true},
		"another is no answer":  {listed: []graphview.Name{name("a")}, after: []graphview.Name{name("c")}},
		"before and after both": {before: []graphview.Name{name("b")}, listed: []graphview.Name{name("a"), name("b")}, after: []graphview.Name{name("a")}, want: true},
	} {
		t.Run(title, func(t *testing.T) {
			s := newInitialSync()
			for _, n := range tc.before {
				s.applied(n)
			}
			if tc.listed != nil {
				s.list(tc.listed)
			}
			for _, n := range tc.after {
				s.applied(n)
			}
			got := false
			select {
			case <-s.known:
				got = true
			default:
			}
			if got != tc.want {
				t.Errorf("known %t, want %t", got, tc.want)
			}
		})
	}
}
