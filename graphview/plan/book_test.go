package plan

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/watch"
)

func parts(from, to int) Demand {
	d := Demand{Extent: Single}
	for i := from; i < to; i++ {
		d.Namespaces = append(d.Namespaces, fmt.Sprintf("ns-%03d", i))
	}
	return d
}

// scene is a book of one kind of things, and who was told since they last asked.
type scene struct {
	book *Book[string]
	told map[string]bool
	now  time.Time
}

func newScene() *scene {
	s := &scene{told: make(map[string]bool), now: time.Unix(1, 0)}
	s.book = NewBook(Options[string]{Linger: time.Minute, Notify: func(who string) { s.told[who] = true }})
	return s
}

func (s *scene) set(who string, d Demand) { s.book.set(who, map[watch.Key]Demand{podsKey: d}, s.now) }

func TestBook(t *testing.T) {
	everybody := func(s *scene, views, each int) {
		for i := range views {
			s.set(fmt.Sprint(i), parts(i*each, (i+1)*each))
		}
	}
	for name, tt := range map[string]struct {
		do         func(*scene)
		want       map[watch.Key]Share // of who is called 0
		wantTold   []string
		wantWithin time.Duration
	}{
		"alone": {do: func(s *scene) { everybody(s, 1, 8) }},
		"beside a wide one": {
			do:   func(s *scene) { everybody(s, 2, 1); s.set("all", Demand{Extent: Everything}) },
			want: map[watch.Key]Share{podsKey: {}}, wantTold: []string{"0", "1"},
		},
		"as many as there may be": {do: func(s *scene) { everybody(s, 16, 1) }},
		"many": {
			do:   func(s *scene) { everybody(s, 17, 1) },
			want: map[watch.Key]Share{podsKey: {Crowded: true}}, wantTold: numbers(0, 16),
		},
		"many who want the same": {do: func(s *scene) {
			for i := range 100 {
				s.set(fmt.Sprint(i), parts(0, 2))
			}
		}},
		"many, and then fewer": {
			do: func(s *scene) {
				everybody(s, 17, 1)
				for i := 9; i < 17; i++ {
					s.book.Forget(fmt.Sprint(i), s.now)
				}
			},
			want: map[watch.Key]Share{podsKey: {}}, wantTold: numbers(0, 17),
		},
		"many, and then few": {
			do: func(s *scene) {
				everybody(s, 17, 1)
				for i := 8; i < 17; i++ {
					s.book.Forget(fmt.Sprint(i), s.now)
				}
				clear(s.told)
				s.now = s.now.Add(time.Second)
			},
			want: map[watch.Key]Share{podsKey: {}}, wantWithin: 59 * time.Second,
		},
		"many, and then few for long": {
			do: func(s *scene) {
				everybody(s, 17, 1)
				for i := 8; i < 17; i++ {
					s.book.Forget(fmt.Sprint(i), s.now)
				}
				clear(s.told)
				s.now = s.now.Add(time.Minute)
			},
			wantTold: numbers(1, 8),
		},
		"few for long, and then many": {
			do: func(s *scene) {
				everybody(s, 17, 1)
				everybody(s, 17, 0)
				s.now = s.now.Add(time.Hour)
				everybody(s, 17, 1)
				clear(s.told)
			},
			want: map[watch.Key]Share{podsKey: {Crowded: true}},
		},
		"many beside a wide one": {
			do: func(s *scene) {
				everybody(s, 17, 1)
				clear(s.told)
				s.set("all", Demand{Extent: Everything})
			},
			want: map[watch.Key]Share{podsKey: {Crowded: true}},
		},
		"many beside a wide one that has gone for long": {
			do: func(s *scene) {
				everybody(s, 17, 1)
				s.set("all", Demand{Extent: Everything})
				s.book.Forget("all", s.now)
				clear(s.told)
				s.now = s.now.Add(time.Minute)
			},
			want: map[watch.Key]Share{podsKey: {Crowded: true}},
		},
		"a wide one that has gone": {
			do: func(s *scene) {
				everybody(s, 2, 1)
				s.set("all", Demand{Extent: Everything})
				clear(s.told)
				s.book.Forget("all", s.now)
			},
			want: map[watch.Key]Share{podsKey: {}}, wantTold: []string{"0", "1"}, wantWithin: time.Minute,
		},
		"a wide one that comes back": {
			do: func(s *scene) {
				everybody(s, 2, 1)
				s.set("all", Demand{Extent: Everything})
				s.book.Forget("all", s.now)
				s.now = s.now.Add(59 * time.Second)
				s.set("all", Demand{Extent: Everything})
				clear(s.told)
				s.now = s.now.Add(time.Hour)
			},
			want: map[watch.Key]Share{podsKey: {}},
		},
		"of something else": {do: func(s *scene) {
			everybody(s, 1, 1)
			s.book.set("all", map[watch.Key]Demand{{FieldSelector: "a=b"}: {Extent: Everything}}, s.now)
		}},
		"who only wants to know": {
			do:   func(s *scene) { s.set("0", Demand{}); s.set("all", Demand{Extent: Everything}) },
			want: map[watch.Key]Share{podsKey: {}}, wantTold: []string{"0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			tt.do(s)
			got, again := s.book.shared("0", s.now)
			if tt.want == nil {
				tt.want = make(map[watch.Key]Share)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("shared (-want +got):\n%s", diff)
			}
			if tt.wantWithin == 0 {
				tt.wantWithin = time.Hour
			}
			if again != tt.wantWithin {
				t.Errorf("to be asked again after %s, want %s", again, tt.wantWithin)
			}
			told := slices.Sorted(maps.Keys(s.told))
			slices.Sort(tt.wantTold)
			if diff := cmp.Diff(tt.wantTold, told); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

func numbers(from, to int) []string {
	var all []string
	for i := from; i < to; i++ {
		all = append(all, fmt.Sprint(i))
	}
	return all
}

// TestBookForgets: a book without views is empty, whatever they asked for.
func TestBookForgets(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := newScene()
		for range 500 {
			s.now = s.now.Add(time.Duration(r.IntN(40)) * time.Second)
			who := fmt.Sprint(r.IntN(10))
			demands := make(map[watch.Key]Demand)
			for k := range r.IntN(3) {
				from := r.IntN(30)
				d := parts(from, from+r.IntN(6))
				switch r.IntN(10) {
				case 0:
					d = Demand{Extent: Everything}
				case 1:
					d = Demand{Extent: Guest}
				}
				demands[watch.Key{LabelSelector: fmt.Sprint(k)}] = d
			}
			s.book.set(who, demands, s.now)
			s.book.shared(fmt.Sprint(r.IntN(10)), s.now)
			s.check(t)
		}
		for i := range 10 {
			s.book.Forget(fmt.Sprint(i), s.now)
		}
		if n := len(s.book.entries) + len(s.book.demands); n > 0 {
			t.Fatalf("seed %d: %d entries are left", seed, n)
		}
	}
}

// check compares what the book has counted with what is demanded.
func (s *scene) check(t *testing.T) {
	t.Helper()
	for k, e := range s.book.entries {
		everything, single := 0, make(map[string]int)
		for _, demands := range s.book.demands {
			d := demands[k]
			if d.Extent == Everything {
				everything++
			}
			for _, n := range d.Namespaces {
				single[n]++
			}
		}
		if everything != e.everything || !maps.Equal(single, e.single) {
			t.Fatalf("%s: counted %d and %v, demanded %d and %v", k, e.everything, e.single, everything, single)
		}
		if e.needed() && !e.shared {
			t.Fatalf("%s is not shared", k)
		}
	}
}
