package plan

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// lister is a partial watch whose lists take some time.
type lister struct {
	id      uint32
	took    time.Duration
	relists int
}

func (l *lister) ID() uint32              { return l.id }
func (l *lister) Relist()                 { l.relists++ }
func (l *lister) ListTime() time.Duration { return l.took }

// TestRelist: a partial watch lists again when namespaces are demanded that its list does
// not have. Lists that take long, and for few namespaces, come less often.
func TestRelist(t *testing.T) {
	everybody := func(s *scene, from, to int) {
		for i := from; i < to; i++ {
			s.set(string(rune('a'+i)), parts(i, i+1))
		}
	}
	for name, tt := range map[string]struct {
		took  time.Duration
		do    func(*scene) // after the list of 17 namespaces
		after time.Duration
		// want is whether it lists again, wantAgain when it would.
		want      bool
		wantAgain time.Duration
	}{
		"the same namespaces":               {after: time.Hour, wantAgain: time.Hour},
		"one more, before it is due":        {took: time.Second, do: func(s *scene) { everybody(s, 17, 18) }, after: 99 * time.Second, wantAgain: time.Second},
		"one more":                          {took: time.Second, do: func(s *scene) { everybody(s, 17, 18) }, after: 100 * time.Second, want: true, wantAgain: time.Hour},
		"one more, at a list of minutes":    {took: time.Minute, do: func(s *scene) { everybody(s, 17, 18) }, after: 20*time.Minute - 1, wantAgain: 1},
		"one more, and a list of no time":   {do: func(s *scene) { everybody(s, 17, 18) }, want: true, wantAgain: time.Hour},
		"ten more":                          {took: time.Second, do: func(s *scene) { everybody(s, 17, 27) }, after: 19 * time.Second, wantAgain: time.Second},
		"twice as many":                     {took: time.Minute, do: func(s *scene) { everybody(s, 17, 35) }, want: true, wantAgain: time.Hour},
		"few less":                          {do: func(s *scene) { everybody(s, 16, 17); s.book.Set("a", nil, s.now) }, after: time.Hour, wantAgain: time.Hour},
		"all but one replaced":              {took: time.Minute, do: func(s *scene) { s.set("a", parts(40, 41)) }, after: 20 * time.Minute, want: true, wantAgain: time.Hour},
		"many namespaces that nobody needs": {do: func(s *scene) { everybody(s, 17, 40); s.begin(); s.keep("k") }, after: 5 * time.Minute, want: true, wantAgain: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			s.lister.took = tt.took
			everybody(s, 0, 17)
			s.set("0", parts(0, 1))
			if got := s.begin(); len(got) != 17 {
				t.Fatalf("it lists %d namespaces", len(got))
			}
			if tt.do != nil {
				tt.do(s)
			}
			s.now = s.now.Add(tt.after)
			shared, again := s.book.Shared("0", s.now)
			if got := s.lister.relists == 1; got != tt.want || s.lister.relists > 1 || shared["pods"].Relists != tt.want {
				t.Errorf("it lists again %d times, want %t", s.lister.relists, tt.want)
			}
			if again != tt.wantAgain {
				t.Errorf("to be asked again after %s, want %s", again, tt.wantAgain)
			}
		})
	}
}

// TestListed: views learn which namespaces the present list has, of the newest watch.
func TestListed(t *testing.T) {
	s := newScene()
	for i := range 17 {
		s.set(string(rune('a'+i)), parts(i, i+1))
	}
	listed := func() (names []string) {
		shared, _ := s.book.Shared("a", s.now)
		for n := range shared["pods"].Listed {
			names = append(names, n)
		}
		slices.Sort(names)
		return names
	}
	if got := listed(); got != nil {
		t.Errorf("before the first list: %v", got)
	}
	s.begin()
	for i := range 16 {
		s.set(string(rune('b'+i)), parts(0, 1))
	}
	if got := listed(); len(got) != 17 {
		t.Errorf("a list changes while it is under way: %v", got)
	}
	s.begin()
	if diff := cmp.Diff([]string{"ns-000"}, listed()); diff != "" {
		t.Errorf("the next list (-want +got):\n%s", diff)
	}
	old := s.lister
	s.lister = &lister{id: old.id + 1}
	s.begin()
	s.set("a", parts(1, 2))
	s.book.Begin("pods", old, s.now)
	s.book.End("pods", old)
	if diff := cmp.Diff([]string{"ns-000"}, listed()); diff != "" {
		t.Errorf("a watch that ends late hides the next one (-want +got):\n%s", diff)
	}
	s.book.End("pods", s.lister)
	if got := listed(); got != nil {
		t.Errorf("after the end: %v", got)
	}
}
