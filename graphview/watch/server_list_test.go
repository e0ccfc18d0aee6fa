package watch

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// item is an object as lists have it.
type item struct{ name, json string }

// serveList answers as an API server does: with resourceVersion=0 in one answer,
// whatever the limit; else in pages, all of them of the version of the first.
func (s *server) serveList(w http.ResponseWriter, r *http.Request) {
	body, after, ok := s.list(r.URL.Query())
	if !ok {
		expire(w, after)
		return
	}
	write(w, body)
}

// list is the body of an answer; or, if that is no longer known, the name after which
// it would go on.
func (s *server) list(query url.Values) (body, after string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit, _ := strconv.Atoi(query.Get("limit"))
	if query.Get("resourceVersion") == "0" {
		limit = 0
	}
	version, after, ok := s.place(query.Get("continue"))
	if !ok {
		return "", after, false
	}
	items := s.snapshots[version]
	if version == s.version {
		items = s.items()
	}
	items = slices.DeleteFunc(slices.Clone(items), func(i item) bool { return i.name <= after })
	next := ""
	if limit > 0 && len(items) > limit {
		s.snapshots[version] = items
		items = items[:limit]
		next = fmt.Sprintf("%d/%s", version, items[limit-1].name)
	}
	var texts []string
	for _, i := range items {
		texts = append(texts, i.json)
	}
	return fmt.Sprintf(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"%d","continue":%q},"items":[%s]}`,
		version, next, strings.Join(texts, ",")), "", true
}

// place is the version and the name after which a list goes on.
func (s *server) place(token string) (version int, after string, ok bool) {
	if token == "" {
		return s.version, "", true
	}
	at, after, _ := strings.Cut(token, "/")
	if at == "now" {
		return s.version, after, true
	}
	version, _ = strconv.Atoi(at)
	_, known := s.snapshots[version]
	return version, after, known
}

func (s *server) items() []item {
	items := make([]item, 0, len(s.objects))
	for name := range s.objects {
		items = append(items, item{name, s.render(name, "")})
	}
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(a.name, b.name) })
	return items
}

// expire answers that the list is too old, with a token for the rest as it is now.
func expire(w http.ResponseWriter, after string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusGone)
	_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","metadata":{"continue":"now/%s"},"status":"Failure","reason":%q,"code":410}`,
		after, metav1.StatusReasonExpired)
}

// compact forgets all versions but the present one.
func (s *server) compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compacted = s.version
	clear(s.snapshots)
}

// cutLists ends lists that are longer than that many bytes as end does.
func (s *server) cutLists(longest int, end func(w http.ResponseWriter, r *http.Request, whole string)) {
	s.answer(func(w http.ResponseWriter, r *http.Request, watch bool) bool {
		if watch {
			return false
		}
		whole := httptest.NewRecorder()
		s.serveList(whole, r)
		if whole.Code != http.StatusOK || whole.Body.Len() <= longest {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(whole.Code)
			_, _ = w.Write(whole.Body.Bytes())
			return true
		}
		end(w, r, whole.Body.String())
		return true
	})
}
