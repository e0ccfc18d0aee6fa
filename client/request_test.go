package client

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/api/v1alpha1"
)

var allPods = Spec{
	Queries: []v1alpha1.Query{
		{Exclude: &v1alpha1.Exclude{ResourceSelectorExpression: "version != 'v1'"}},
		{Include: &v1alpha1.Include{ResourceSelectorExpression: "resource == 'pods'", Object: &v1alpha1.ObjectFilter{LabelSelector: "a=b"}}},
	},
	Namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{"shop"}},
	Roots:      &v1alpha1.Roots{ObjectSelectorExpressions: []v1alpha1.Expression{"name == 'a'"}, IgnoreArcDirection: []ArcType{Owner}},
}

const allPodsText = `{"id":1,"subscribe":{"spec":{"queries":[` +
	`{"exclude":{"resourceSelectorExpression":"version != 'v1'"}},` +
	`{"include":{"resourceSelectorExpression":"resource == 'pods'","object":{"labelSelector":"a=b"}}}],` +
	`"namespaces":{"names":["shop"]},` +
	`"roots":{"objectSelectorExpressions":["name == 'a'"],"ignoreArcDirection":["or"]}}}}`

// A request has its own channel, and is sent again on each connection.
func TestRequest(t *testing.T) {
	server, c := serve(t,
		act{reads: true, sends: []string{
			`{"id":1,"channel":7}`,
			`{"channel":7,"actions":[` + setA + `],"rev":"1","synced":true}`,
			`{"channel":8,"actions":[` + setB + `],"rev":"9"}`,
			`{"channel":7,"actions":[` + setB + `],"rev":"2"}`,
		}},
		act{reads: true, sends: []string{
			`{"id":1,"channel":9}`,
			`{"channel":9,"actions":[` + setB + `],"rev":"1","synced":true}`,
			`{"channel":9,"error":{"code":1008,"code_string":"StatusPolicyViolation","reason":"Forbidden","message":"no more"}}`,
		}, stays: true},
	)
	s := c.Request(allPods, quick)
	defer s.Close()
	for _, want := range []string{"a @1 synced", "a b @2 synced", "@", "b @1 synced", "b @1 synced"} {
		if _, err := s.Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, summary(s.Graph())); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := s.Receive(t.Context()); !Permanent(err) {
		t.Errorf("it ends with %v, want no more", err)
	}
	if diff := cmp.Diff([]string{allPodsText, allPodsText}, server.received); diff != "" {
		t.Error(diff)
	}
}

func TestRequestRefused(t *testing.T) {
	for name, text := range map[string]string{
		"the subscription":     `{"id":1,"error":{"code":1008,"code_string":"StatusPolicyViolation","reason":"Invalid","message":"spec.queries: too few"}}`,
		"the whole connection": `{"error":{"code":1007,"code_string":"StatusInvalidFramePayloadData","reason":"Malformed","message":"no JSON"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, c := serve(t, act{reads: true, sends: []string{text}, stays: true})
			s := c.Request(Spec{}, quick)
			defer s.Close()
			if _, err := s.Next(t.Context()); !Permanent(err) || IsNotFound(err) {
				t.Errorf("%v", err)
			}
		})
	}
}
