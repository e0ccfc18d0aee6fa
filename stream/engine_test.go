package stream

import (
	"testing"

	"k8s.io/client-go/rest"

	"graphview.dev/api/reason"
	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
)

// TestOf serves an engine that does not run: its views are there all the same.
func TestOf(t *testing.T) {
	engine, err := graphview.NewEngine(graphview.Options{Config: &rest.Config{Host: "https://127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	good, bad := graphview.Name{Namespace: "shop", Name: "good"}, graphview.Name{Namespace: "shop", Name: "bad"}
	selects := func(expression string) v1alpha1.GraphViewSpec {
		return v1alpha1.GraphViewSpec{Queries: []v1alpha1.Query{{Include: &v1alpha1.Include{ResourceSelectorExpression: expression}}}}
	}
	if err := engine.Apply(t.Context(), good, "uid", selects("true")); err != nil {
		t.Fatal(err)
	}
	if err := engine.Apply(t.Context(), bad, "uid", selects("nonsense")); err == nil {
		t.Fatal("nonsense applied")
	}
	s := serve(t, nil, func(s *Server) { s.options.Cluster = Of(engine) })
	for path, want := range map[string]int{
		"graphs": 200, "watch/namespaces/shop/graphs/bad": 422, "namespaces/shop/graphs/none": 404,
	} {
		if code, body := s.get(graphs+path, nil); code != want {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	conn := s.mustDial(graphs + "watch/namespaces/shop/graphs/good")
	engine.Remove(good)
	wantsGoodbye(t, conn, 1000, "StatusNormalClosure", reason.Deleted, "the view was deleted")
}
