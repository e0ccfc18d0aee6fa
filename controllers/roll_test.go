package controllers

import (
	"testing"

	"graphview.dev/graphview"
)

func TestRoll(t *testing.T) {
	name := func(n string) graphview.Name { return graphview.Name{Namespace: "shop", Name: n} }
	for title, tc := range map[string]struct {
		before, called, after []graphview.Name
		want                  bool
	}{
		"not called":            {before: []graphview.Name{name("a")}},
		"none there":            {called: []graphview.Name{}, want: true},
		"all told before":       {before: []graphview.Name{name("a"), name("b")}, called: []graphview.Name{name("a")}, want: true},
		"one missing":           {before: []graphview.Name{name("a")}, called: []graphview.Name{name("a"), name("b")}},
		"told after":            {called: []graphview.Name{name("a"), name("b")}, after: []graphview.Name{name("b"), name("a")}, want: true},
		"told again":            {called: []graphview.Name{name("a")}, after: []graphview.Name{name("a"), name("a")}, want: true},
		"another is no answer":  {called: []graphview.Name{name("a")}, after: []graphview.Name{name("c")}},
		"before and after both": {before: []graphview.Name{name("b")}, called: []graphview.Name{name("a"), name("b")}, after: []graphview.Name{name("a")}, want: true},
	} {
		t.Run(title, func(t *testing.T) {
			r := newRoll()
			for _, n := range tc.before {
				r.answer(n)
			}
			if tc.called != nil {
				r.call(tc.called)
			}
			for _, n := range tc.after {
				r.answer(n)
			}
			got := false
			select {
			case <-r.known:
				got = true
			default:
			}
			if got != tc.want {
				t.Errorf("known %t, want %t", got, tc.want)
			}
		})
	}
}
