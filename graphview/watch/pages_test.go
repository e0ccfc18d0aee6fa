package watch

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPageSizes(t *testing.T) {
	early := func(objects int) func(*pages) { return func(p *pages) { p.endedEarly(objects) } }
	list := func(p *pages) {
		p.restart()
		for i, token := range []string{"a", "b", ""} {
			if _, err := p.done(&metav1.List{ListMeta: metav1.ListMeta{Continue: token}}, uint64(i), time.Unix(101, 0)); err != nil {
				panic(err)
			}
		}
	}
	tests := map[string]struct {
		events []func(*pages)
		want   []int64 // objects that are asked for after each of them, 0 for all
	}{
		"half of what came":                  {[]func(*pages){early(77_000), early(400), early(500)}, []int64{500, 200, 100}},
		"few came":                           {[]func(*pages){early(37), early(3)}, []int64{18, 1}},
		"nothing comes":                      {slices.Repeat([]func(*pages){early(0)}, 11), []int64{500, 250, 125, 62, 31, 15, 7, 3, 1, 1, 1}},
		"lists that are complete":            {[]func(*pages){list, early(77_000), list, list}, []int64{0, 500, 500, 500}},
		"pages that are complete stay small": {[]func(*pages){early(100), list, early(50), list}, []int64{50, 50, 25, 25}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var p pages
			for i, event := range test.events {
				event(&p)
				if p.size != test.want[i] {
					t.Fatalf("after %d: pages of %d, want %d", i+1, p.size, test.want[i])
				}
			}
		})
	}
}

// TestListResumption: what a failure says of a list that is under way.
func TestListResumption(t *testing.T) {
	gone := func(token string) error {
		err := apierrors.NewResourceExpired("too old")
		err.ErrStatus.Continue = token
		return fmt.Errorf("list: %w", err)
	}
	unseen := apierrors.NewTimeoutError("too large", 1)
	unseen.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
	tests := map[string]struct {
		errs []error
		// want is the token that is sent next, wantAgain at once.
		want      string
		wantAgain bool
	}{
		"ended early":                   {[]error{&endedEarlyError{cause: errIdleTimeout}}, "second", false},
		"no connection":                 {[]error{&connectionError{errors.New("refused")}}, "second", false},
		"busy":                          {[]error{apierrors.NewTooManyRequests("later", 1)}, "second", false},
		"broken":                        {[]error{apierrors.NewInternalError(errors.New("x"))}, "second", false},
		"who asks is not known":         {[]error{apierrors.NewUnauthorized("expired")}, "second", false},
		"too old, the rest as it is":    {[]error{gone("renewed")}, "renewed", true},
		"too old, and what it gave too": {[]error{gone("renewed"), gone("renewed again")}, "", false},
		"too old":                       {[]error{gone("")}, "", false},
		"not seen yet":                  {[]error{unseen}, "", false},
		"forbidden":                     {[]error{apierrors.NewForbidden(podsKey.Resource.GroupResource(), "", nil)}, "", false},
		"no such token":                 {[]error{apierrors.NewBadRequest("continue key is not valid")}, "", false},
		"not served":                    {[]error{apierrors.NewNotFound(podsKey.Resource.GroupResource(), "")}, "", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var p pages
			p.endedEarly(1000)
			p.restart()
			if list, err := p.done(&metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "second"}}, 0, time.Unix(101, 0)); list != nil || err != nil {
				t.Fatalf("the first page: %v, %v", list, err)
			}
			var again bool
			for _, err := range test.errs {
				again = p.failed(err)
			}
			got := p.request()
			if diff := cmp.Diff(metav1.ListOptions{Limit: 500, Continue: test.want}, got); diff != "" || again != test.wantAgain {
				t.Errorf("again = %t, want %t; request (-want +got):\n%s", again, test.wantAgain, diff)
			}
			if test.want == "" {
				return
			}
			if !p.inProgress(time.Unix(101+299, 0)) || p.inProgress(time.Unix(101+300, 0)) {
				t.Error("the list does not go on within five minutes, or does after them")
			}
			list, err := p.done(&metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: "9"}}, 0, time.Unix(102, 0))
			if err != nil || list == nil || list.ResourceVersion != "7" {
				t.Errorf("the last page: %v, %v; want a list of the first page's version", list, err)
			}
		})
	}
}

func TestRepeatedPageIsAnError(t *testing.T) {
	for name, second := range map[string]struct {
		token string
		first uint64
	}{
		"the same token":              {"token", 8},
		"another, of the same object": {"another", 7},
	} {
		t.Run(name, func(t *testing.T) {
			var p pages
			p.endedEarly(1000)
			p.restart()
			_, err := p.done(&metav1.List{ListMeta: metav1.ListMeta{Continue: "token"}}, 7, time.Unix(101, 0))
			_, repeats := p.done(&metav1.List{ListMeta: metav1.ListMeta{Continue: second.token}}, second.first, time.Unix(102, 0))
			if err != nil || !errors.Is(repeats, errEndless) || p.request().Continue != "" {
				t.Errorf("%v, %v, then %+v", err, repeats, p.request())
			}
		})
	}
}

// pagesForEver has the server answer each list with another page of one object, and have the first answer end
// early, or not.
func pagesForEver(s *server, early bool, page func(n int32) (token, name string)) {
	var answers atomic.Int32
	s.answer(func(w http.ResponseWriter, _ *http.Request, watch bool) bool {
		if watch {
			return false
		}
		n := answers.Add(1)
		token, name := page(n)
		body := fmt.Sprintf(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":%q},"items":[{%s}]}`, token, object(name, "", ""))
		if early && n == 1 {
			body = body[:len(body)-1]
		}
		write(w, body)
		return true
	})
}

// TestPagesWithoutEnd: a server whose pages have no end is given up, whether the pages begin with the first list or with
// the one after a list that ended early. TestEmptyPages has those whose pages have no objects.
func TestPagesWithoutEnd(t *testing.T) {
	for name, page := range map[string]func(n int32) (token, name string){
		"it ignores tokens":              func(n int32) (string, string) { return fmt.Sprint(n), "a" },
		"pages repeat":                   func(n int32) (string, string) { return fmt.Sprint(n % 3), fmt.Sprint("a", n%3) },
		"pages repeat with other tokens": func(n int32) (string, string) { return fmt.Sprint(n), fmt.Sprint("a", n%3) },
	} {
		for _, early := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/after a list that ended early: %t", name, early), func(t *testing.T) {
				s, r := newServer(t), newRecorder(t)
				pagesForEver(s, early, page)
				acquire(t, start(t, s, r), podsKey)
				r.awaitFailure("list pods: " + errEndless.Error())
			})
		}
	}
}

// TestEmptyPages: some pages may be empty, however many they are in all.
func TestEmptyPages(t *testing.T) {
	var p pages
	p.restart()
	took := func(token int, first uint64) error {
		_, err := p.done(&metav1.List{ListMeta: metav1.ListMeta{Continue: fmt.Sprint(token)}}, first, time.Unix(101, 0))
		return err
	}
	token := 0
	for object := range uint64(3) {
		for range mostEmpty {
			if token++; took(token, 0) != nil {
				t.Fatalf("after %d pages, of which %d had an object: the list comes to no end", token, object)
			}
		}
		if token++; took(token, object+1) != nil {
			t.Fatalf("after %d pages, of which %d had an object: the list comes to no end", token, object+1)
		}
	}
	for range mostEmpty {
		token++
		if err := took(token, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := took(token+1, 0); !errors.Is(err, errEndless) || p.request().Continue != "" {
		t.Errorf("one more empty page: %v, then %+v", err, p.request())
	}
	p.restart()
	if err := took(token+1, 0); err != nil {
		t.Errorf("the first page of the next list: %v", err)
	}
}

// TestInterruptedListResumes: what came of a list is not asked for again.
func TestInterruptedListResumes(t *testing.T) {
	s, r := newHTTP2Server(t), newRecorder(t)
	const objects = 60
	s.fill(objects)
	var mu sync.Mutex
	served := map[string]int{} // whole pages, by token
	n := 0
	s.answer(func(w http.ResponseWriter, r *http.Request, watch bool) bool {
		if watch {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		n++
		body, _, _ := s.list(r.URL.Query())
		if n%2 == 1 { // each other answer
			write(w, body[:len(body)*2/3])
			panic(http.ErrAbortHandler)
		}
		served[r.URL.Query().Get("continue")]++
		write(w, body)
		return true
	})
	acquire(t, start(t, s, r), podsKey)
	r.await("the whole list", func() bool { return r.state.Synced && len(r.json) == objects })
	mu.Lock()
	defer mu.Unlock()
	for token, times := range served {
		if times != 1 {
			t.Errorf("the page %q was read %d times", token, times)
		}
	}
	if len(served) < 3 {
		t.Errorf("the list came in %d pages", len(served))
	}
}

// TestChangesBetweenPages: whatever is created, changed and deleted while a list is
// read in pages, and whichever of these end early, are refused or too old, what is
// retained in the end is what there is.
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
