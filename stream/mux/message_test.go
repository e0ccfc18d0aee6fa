package mux

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/api/reason"
	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/stream/names"
)

const goodSpec = `{"queries":[{"include":{"resourceSelectorExpression":"resource == 'pods'"}}]}`

func TestParseMessage(t *testing.T) {
	tests := map[string]struct {
		text string
		want message
		// wantReason is part of the error's text; wantNoID that the error has no channel ID.
		wantReason string
		wantNoID   bool
	}{
		"subscribe by name": {
			text: `{"id":1,"subscribe":{"namespace":"shop","name":"web"}}`,
			want: message{id: 1, subscribe: &Subscribe{Name: names.GraphName{Namespace: "shop", Name: "web"}}},
		},
		"another cluster": {
			text: `{"id":1,"subscribe":{"cluster":"eu-1","namespace":"shop","name":"web","since":"r1","root":["pods/shop/web-1"],"depth":2}}`,
			want: message{id: 1, subscribe: &Subscribe{
				Name:  names.GraphName{Cluster: "eu-1", Namespace: "shop", Name: "web"},
				Query: url.Values{"since": {"r1"}, "root": {"pods/shop/web-1"}, "depth": {"2"}},
			}},
		},
		"a spec in another cluster": {
			text:       `{"id":1,"subscribe":{"cluster":"eu-1","spec":` + goodSpec + `}}`,
			wantReason: "subscribe.cluster goes with a name",
		},
		"continue": {
			text: `{"subscribe":{"since":"r1","namespace":"shop","name":"web","spec":null},"id":-7}`,
			want: message{id: -7, subscribe: &Subscribe{Name: names.GraphName{Namespace: "shop", Name: "web"}, Since: "r1"}},
		},
		"subscribe by spec": {
			text: `{"id":2,"subscribe":{"spec":` + goodSpec + `}}`,
			want: message{id: 2, subscribe: &Subscribe{Spec: &v1alpha1.GraphViewSpec{
				Queries: []v1alpha1.Query{{Include: &v1alpha1.Include{ResourceSelectorExpression: "resource == 'pods'"}}},
			}}},
		},
		"a part": {
			text: `{"id":1,"subscribe":{"namespace":"shop","name":"web","root":["nodes/a"],"direction":"Up","depth":3}}`,
			want: message{id: 1, subscribe: &Subscribe{
				Name:   names.GraphName{Namespace: "shop", Name: "web"},
				Narrow: &graph.Narrowing{Roots: []graph.Key{{Resource: graph.Resource{Resource: "nodes"}, Name: "a"}}, Walk: graph.Walk{Direction: graph.Up, Depth: 3}},
			}},
		},
		"unsubscribe": {text: ` {"id":3,"unsubscribe":{"channel":7}} `, want: message{id: 3, unsubscribe: 7}},

		"empty":                   {text: ``, wantReason: "unexpected end of JSON input", wantNoID: true},
		"no JSON":                 {text: `hello`, wantReason: "invalid character 'h'", wantNoID: true},
		"cut short":               {text: `{"id":1,"subscribe":{`, wantReason: "unexpected end of JSON input", wantNoID: true},
		"two objects":             {text: `{"id":1}{"id":2}`, wantReason: "after top-level value", wantNoID: true},
		"list":                    {text: `[]`, wantReason: "array", wantNoID: true},
		"null":                    {text: `null`, wantReason: "has no id", wantNoID: true},
		"no id":                   {text: `{"subscribe":{"namespace":"shop","name":"web"}}`, wantReason: "has no id", wantNoID: true},
		"null as id":              {text: `{"id":null,"unsubscribe":{"channel":7}}`, wantReason: "has no id", wantNoID: true},
		"text as id":              {text: `{"id":"1","unsubscribe":{"channel":7}}`, wantReason: "string", wantNoID: true},
		"fraction as id":          {text: `{"id":1.5,"unsubscribe":{"channel":7}}`, wantReason: "number 1.5", wantNoID: true},
		"id beyond 64 bits":       {text: `{"id":9223372036854775808,"unsubscribe":{"channel":7}}`, wantReason: "number 9223372036854775808", wantNoID: true},
		"nothing asked":           {text: `{"id":1}`, wantReason: "either subscribe or unsubscribe"},
		"both asked":              {text: `{"id":1,"subscribe":{"namespace":"a","name":"b"},"unsubscribe":{"channel":1}}`, wantReason: "either subscribe or unsubscribe"},
		"unknown field":           {text: `{"id":1,"subscribe":{"namespace":"a","name":"b"},"more":1}`, wantReason: `unknown field "more"`},
		"unknown field inside":    {text: `{"id":1,"subscribe":{"namespace":"a","nam":"b"}}`, wantReason: `unknown field "nam"`},
		"unknown verb":            {text: `{"id":1,"list":{}}`, wantReason: `unknown field "list"`},
		"wrong type":              {text: `{"id":1,"subscribe":"shop/web"}`, wantReason: "subscribe"},
		"no name":                 {text: `{"id":1,"subscribe":{"namespace":"shop"}}`, wantReason: "either namespace and name, or spec"},
		"no namespace":            {text: `{"id":1,"subscribe":{"name":"web"}}`, wantReason: "either namespace and name, or spec"},
		"nothing to subscribe to": {text: `{"id":1,"subscribe":{}}`, wantReason: "either namespace and name, or spec"},
		"name and spec":           {text: `{"id":1,"subscribe":{"name":"web","spec":` + goodSpec + `}}`, wantReason: "either namespace and name, or spec"},
		"since and spec":          {text: `{"id":1,"subscribe":{"since":"r1","spec":` + goodSpec + `}}`, wantReason: "subscribe.since"},
		"a part of a spec":        {text: `{"id":1,"subscribe":{"root":["nodes/a"],"spec":` + goodSpec + `}}`, wantReason: "subscribe.root"},
		"a root without a name":   {text: `{"id":1,"subscribe":{"namespace":"a","name":"b","root":["nodes"]}}`, wantReason: "RESOURCE.GROUP/NAMESPACE/NAME"},
		"a depth without a root":  {text: `{"id":1,"subscribe":{"namespace":"a","name":"b","depth":1}}`, wantReason: "go with a root"},
		"too deep":                {text: `{"id":1,"subscribe":{"namespace":"a","name":"b","root":["nodes/a"],"depth":65}}`, wantReason: "between 0, for any, and 64"},
		"a root that is no text":  {text: `{"id":1,"subscribe":{"namespace":"a","name":"b","root":[1]}}`, wantReason: "root"},
		"inferred":                {text: `{"id":1,"subscribe":{"namespace":"a","name":"b","inferred":false}}`, wantReason: `unknown field "inferred"`},
		"the words of /graph":     {text: `{"id":1,"subscribe":{"spec":{"queries":[{"include":{"resource_selector_expression":"true"}}]}}}`, wantReason: `unknown field "resource_selector_expression"`},
		"a request":               {text: `{"id":1,"subscribe":{"request":` + goodSpec + `}}`, wantReason: `unknown field "request"`},
		"the direction of before": {text: `{"id":1,"subscribe":{"namespace":"a","name":"b","root":["nodes/a"],"direction":"down"}}`, wantReason: "direction must be Down, Up or Both"},
		"no channel":              {text: `{"id":1,"unsubscribe":{}}`, wantReason: "unsubscribe.channel"},
		"channel zero":            {text: `{"id":1,"unsubscribe":{"channel":0}}`, wantReason: "unsubscribe.channel"},
		"negative channel":        {text: `{"id":1,"unsubscribe":{"channel":-1}}`, wantReason: "unsubscribe.channel"},
		"text as channel":         {text: `{"id":1,"unsubscribe":{"channel":"7"}}`, wantReason: "channel"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseMessage([]byte(test.text))
			if test.wantReason == "" {
				if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(message{})); err != nil || diff != "" {
					t.Errorf("%v, -want +got:\n%s", err, diff)
				}
				return
			}
			var closed *delivery.ClosedError
			if !errors.As(err, &closed) || closed.Reason != reason.Malformed || !strings.Contains(closed.Message, test.wantReason) {
				t.Fatalf("%v, want 1007 with %q", err, test.wantReason)
			}
			if noID := errors.Is(err, errNoID); noID != test.wantNoID || !noID && got.id != 1 {
				t.Errorf("no id: %t, id %d", noID, got.id)
			}
		})
	}
}

func FuzzParseMessage(f *testing.F) {
	f.Add([]byte(`{"id":1,"subscribe":{"namespace":"shop","name":"web","since":"r1"}}`))
	f.Add([]byte(`{"id":2,"subscribe":{"spec":` + goodSpec + `}}`))
	f.Add([]byte(`{"id":3,"unsubscribe":{"channel":7}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parseMessage(text)
		var closed *delivery.ClosedError
		switch {
		case err != nil:
			if !errors.As(err, &closed) || closed.Reason != reason.Malformed {
				t.Errorf("%v", err)
			}
		case !json.Valid(text):
			t.Error("understood what is not JSON")
		case (m.subscribe == nil) == (m.unsubscribe == 0):
			t.Errorf("%+v", m)
		case m.subscribe != nil && (m.subscribe.Spec == nil) == (m.subscribe.Name == names.GraphName{}):
			t.Errorf("%+v", m.subscribe)
		}
	})
}
