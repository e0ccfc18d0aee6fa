package local

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview/access"
)

// reviewer answers reviews as an API server does whose authorizers do not list their rules, which no
// API server with RBAC alone does.
type reviewer struct {
	rules      []authorizationv1.ResourceRule
	incomplete bool
	// allowed are VERB RESOURCE or VERB RESOURCE/NAMESPACE.
	allowed []string
	// code is the answer to all requests, 0 for reviews.
	code int

	mu    sync.Mutex
	asked []string
}

func (r *reviewer) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.code != 0 {
		http.Error(w, "no", r.code)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	if strings.HasSuffix(request.URL.Path, "/selfsubjectrulesreviews") {
		var review authorizationv1.SelfSubjectRulesReview
		_ = json.NewDecoder(request.Body).Decode(&review)
		r.asked = append(r.asked, "rules "+review.Spec.Namespace)
		review.Status = authorizationv1.SubjectRulesReviewStatus{ResourceRules: r.rules, Incomplete: r.incomplete}
		_ = json.NewEncoder(w).Encode(review)
		return
	}
	var review authorizationv1.SelfSubjectAccessReview
	_ = json.NewDecoder(request.Body).Decode(&review)
	of := review.Spec.ResourceAttributes
	question := of.Verb + " " + of.Resource
	if of.Namespace != "" {
		question += "/" + of.Namespace
	}
	r.asked = append(r.asked, question)
	for _, allowed := range r.allowed {
		review.Status.Allowed = review.Status.Allowed || allowed == question
	}
	_ = json.NewEncoder(w).Encode(review)
}

func rightsOf(t *testing.T, r *reviewer) (*Rights, *rest.Config) {
	t.Helper()
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	config := &rest.Config{Host: server.URL, Transport: transport, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	rights, err := NewRights(config)
	if err != nil {
		t.Fatal(err)
	}
	return rights, config
}

func rule(verbs, resources string, names ...string) authorizationv1.ResourceRule {
	return authorizationv1.ResourceRule{
		Verbs: strings.Split(verbs, ","), APIGroups: []string{""}, Resources: strings.Split(resources, ","), ResourceNames: names,
	}
}

func TestReview(t *testing.T) {
	pods, wide := access.Place{Resource: "pods", Namespace: "a"}, access.Place{Resource: "pods"}
	tests := map[string]struct {
		reviewer  *reviewer
		place     access.Place
		want      bool
		wantAsked []string
	}{
		"everything": {
			reviewer: &reviewer{allowed: []string{"list *", "watch *"}}, place: pods, want: true, wantAsked: []string{"list *", "watch *"},
		},
		"rules of the namespace": {
			reviewer: &reviewer{rules: []authorizationv1.ResourceRule{rule("get,list,watch", "pods")}}, place: pods, want: true, wantAsked: []string{"list *", "rules a"},
		},
		"rules that together suffice": {
			reviewer: &reviewer{rules: []authorizationv1.ResourceRule{rule("list", "pods"), rule("watch", "*")}}, place: pods, want: true, wantAsked: []string{"list *", "rules a"},
		},
		"list without watch": {
			reviewer: &reviewer{rules: []authorizationv1.ResourceRule{rule("list", "pods")}}, place: pods, wantAsked: []string{"list *", "rules a"},
		},
		"a rule for one name": {
			reviewer: &reviewer{rules: []authorizationv1.ResourceRule{rule("list,watch", "pods", "web")}}, place: pods, wantAsked: []string{"list *", "rules a"},
		},
		"rules that are incomplete": {
			reviewer: &reviewer{incomplete: true, allowed: []string{"list pods/a", "watch pods/a"}}, place: pods, want: true,
			wantAsked: []string{"list *", "rules a", "list pods/a", "watch pods/a"},
		},
		"rules that are incomplete, and a denial": {
			reviewer: &reviewer{incomplete: true}, place: pods, wantAsked: []string{"list *", "rules a", "list pods/a"},
		},
		"incomplete rules that suffice": {
			reviewer: &reviewer{incomplete: true, rules: []authorizationv1.ResourceRule{rule("*", "*")}}, place: pods, want: true, wantAsked: []string{"list *", "rules a"},
		},
		"all namespaces": {
			reviewer: &reviewer{allowed: []string{"list pods", "watch pods"}}, place: wide, want: true, wantAsked: []string{"list *", "list pods", "watch pods"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rights, _ := rightsOf(t, tt.reviewer)
			for range 2 { // the second time, the answers for many places are known
				if _, err := rights.Everything(t.Context()); err != nil {
					t.Fatal(err)
				}
				answers, err := access.New(access.Options{Review: rights.Review}).Watchable(t.Context(), sole, []access.Place{tt.place})
				if err != nil || answers[tt.place] != tt.want {
					t.Fatalf("%v, %v, want %t", answers, err, tt.want)
				}
				if len(tt.wantAsked) > 0 {
					if diff := cmp.Diff(tt.wantAsked, tt.reviewer.asked); diff != "" {
						t.Errorf("asked (-want +got):\n%s", diff)
					}
				}
				tt.wantAsked, tt.reviewer.asked = nil, nil
			}
		})
	}
}

// TestReviewRenews: an answer for many places is asked for again after a while.
func TestReviewRenews(t *testing.T) {
	r := &reviewer{rules: []authorizationv1.ResourceRule{rule("list,watch", "pods")}}
	rights, _ := rightsOf(t, r)
	now := time.Now()
	rights.now = func() time.Time { return now }
	question := access.Question{Verb: "list", Resource: "pods", Namespace: "a"}
	if may, err := rights.Review(t.Context(), sole, question); err != nil || !may {
		t.Fatalf("%t, %v", may, err)
	}
	r.rules, now = nil, now.Add(freshFor)
	if may, err := rights.Review(t.Context(), sole, question); err != nil || may {
		t.Errorf("%t, %v: the right was revoked", may, err)
	}
}

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		reviewer   *reviewer
		namespaces []string
		want       string
	}{
		"nothing":                        {reviewer: &reviewer{}, namespaces: []string{"a"}, want: `you may list nothing in namespace "a"`},
		"nothing in two":                 {reviewer: &reviewer{}, namespaces: []string{"a", "b"}, want: `you may list nothing in the namespaces ["a" "b"]`},
		"one kind":                       {reviewer: &reviewer{rules: []authorizationv1.ResourceRule{rule("list,watch", "pods")}}, namespaces: []string{"a"}},
		"single objects":                 {reviewer: &reviewer{rules: []authorizationv1.ResourceRule{rule("list,watch", "pods", "web")}}, namespaces: []string{"a"}, want: "you may list nothing"},
		"rules that are not all known":   {reviewer: &reviewer{incomplete: true}, namespaces: []string{"a"}},
		"all namespaces":                 {reviewer: &reviewer{allowed: []string{"list namespaces", "watch namespaces"}}},
		"all namespaces, without rights": {reviewer: &reviewer{}, want: "you may not list namespaces"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rights, config := rightsOf(t, tt.reviewer)
			err := rights.Check(t.Context(), config, tt.namespaces)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestConnect(t *testing.T) {
	rights, config := rightsOf(t, &reviewer{code: http.StatusUnauthorized})
	err := rights.Connect(t.Context(), config)
	if err == nil || !strings.HasPrefix(err.Error(), "connect to "+config.Host+": ") {
		t.Errorf("%v", err)
	}
}
