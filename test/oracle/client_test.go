package oracle

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	podJSON     = `{"g":"","v":"v1","r":"pods","ns":"shop","n":"web"}`
	settingJSON = `{"g":"","v":"v1","r":"configmaps","ns":"shop","n":"settings"}`
	arcJSON     = `"s":` + podJSON + `,"d":` + settingJSON + `,"t":"r"`
)

var (
	pod     = VertexKey{Version: "v1", Resource: "pods", Namespace: "shop", Name: "web"}
	setting = VertexKey{Version: "v1", Resource: "configmaps", Namespace: "shop", Name: "settings"}
	uses    = ArcKey{From: pod, To: setting, Type: "r"}
)

func TestClientApplies(t *testing.T) {
	object := map[string]any{"spec": map[string]any{}}
	tests := map[string]struct {
		messages     []string
		wantVertices map[VertexKey]any
		wantArcs     map[ArcKey]Attributes
		wantWarnings []Warning
		wantRev      string
		wantSynced   bool
	}{
		"set": {
			messages: []string{
				`{"actions":[{"svx":{"vx":` + podJSON + `,"o":{"spec":{}}}},{"sarc":{` + arcJSON + `,"a":{"e":true,"f":["spec.x"],"w":["uses"]}}}]}`,
				`{"actions":[{"svx":{"vx":` + settingJSON + `,"j":[1]}},{"sarc":{` + arcJSON + `}}],"rev":"1","synced":true}`,
			},
			wantVertices: map[VertexKey]any{pod: object, setting: []any{1.0}},
			wantArcs:     map[ArcKey]Attributes{uses: {}},
			wantRev:      "1", wantSynced: true,
		},
		"delete, and what is not known": {
			messages: []string{
				`{"actions":[{"svx":{"vx":` + podJSON + `}},{"sarc":{` + arcJSON + `,"a":{"e":true}}},{"dvx":{"vx":` + settingJSON + `}}]}`,
				`{"actions":[{"darc":{` + arcJSON + `}},{"darc":{` + arcJSON + `}},{"dvx":{"vx":` + podJSON + `}}],"rev":"2"}`,
			},
			wantRev: "2",
		},
		"a reset forgets everything before the actions": {
			messages: []string{
				`{"actions":[{"svx":{"vx":` + podJSON + `}}],"warnings":[{"t":"DISCOVERY_FAILED"}],"rev":"1","synced":true}`,
				`{"reset":true,"actions":[{"svx":{"vx":` + settingJSON + `}}]}`,
			},
			wantVertices: map[VertexKey]any{setting: nil},
		},
		"warnings are identified by type and attributes": {
			messages: []string{
				`{"warnings":[{"t":"T","m":"old","a":{"g":"","r":"pods"}},{"t":"T","m":"other","a":{"r":"nodes"}},{"t":"U"}]}`,
				`{"warnings":[{"t":"T","m":"new","a":{"r":"pods","g":""}}],"cleared":[{"t":"U"}]}`,
			},
			wantWarnings: []Warning{
				{Type: "T", Message: "new", Attributes: map[string]any{"g": "", "r": "pods"}},
				{Type: "T", Message: "other", Attributes: map[string]any{"r": "nodes"}},
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			client := Client{Strict: true}
			for _, text := range test.messages {
				if err := client.Apply([]byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			if diff := Compare(Graph{Vertices: test.wantVertices, Arcs: test.wantArcs}, client.Graph()); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.wantWarnings, client.Warnings()); diff != "" {
				t.Error(diff)
			}
			if client.Rev() != test.wantRev || client.Synced() != test.wantSynced {
				t.Errorf("rev %q synced %t, want %q %t", client.Rev(), client.Synced(), test.wantRev, test.wantSynced)
			}
		})
	}
}

func TestStrictClientComplains(t *testing.T) {
	setPod := `{"svx":{"vx":` + podJSON + `}}`
	tests := map[string]struct {
		messages []string
		want     string
	}{
		"an arc before its source":   {[]string{`{"actions":[{"sarc":{` + arcJSON + `}}]}`}, "is set before the vertex"},
		"a vertex before its arcs":   {[]string{`{"actions":[` + setPod + `,{"sarc":{` + arcJSON + `}},{"dvx":{"vx":` + podJSON + `}}]}`}, "is deleted before"},
		"an arc to nowhere at a rev": {[]string{`{"actions":[` + setPod + `,{"sarc":{` + arcJSON + `}}],"rev":"1"}`}, "ends nowhere"},
		"synced twice":               {[]string{`{"synced":true}`, `{"synced":true}`}, "synced twice"},
		"unknown members":            {[]string{`{"actions":[{"svx":{"vx":` + podJSON + `,"x":1}}]}`}, "unknown field"},
		"an empty action":            {[]string{`{"actions":[{}]}`}, "0 of svx"},
		"both o and j":               {[]string{`{"actions":[{"svx":{"vx":` + podJSON + `,"o":{},"j":[]}}]}`}, "both o and j or f"},
		"a Secret's content":         {[]string{`{"actions":[{"svx":{"vx":{"g":"","v":"v1","r":"secrets","ns":"a","n":"b"},"o":{"data":{}}}}]}`}, "has content"},
		"a large message":            {[]string{`{"actions":[` + setPod + `,` + setPod + `],"rev":"` + strings.Repeat("x", mostBytes) + `"}`}, "2 actions"},
		"two messages in one":        {[]string{`{}{}`}, "more than one JSON value"},
		"something that is not JSON": {[]string{`hello`}, "parse message"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			client := Client{Strict: true}
			var err error
			for _, text := range test.messages {
				err = errors.Join(err, client.Apply([]byte(text)))
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q in it", err, test.want)
			}
		})
	}
}

func TestClientReportsErrorsAndRepetition(t *testing.T) {
	var client Client
	set := `{"actions":[{"svx":{"vx":` + podJSON + `,"o":{"a":1}}}]}`
	for range 3 {
		if err := client.Apply([]byte(set)); err != nil {
			t.Fatal(err)
		}
	}
	if got := client.Redundant(); got != 2 {
		t.Errorf("%d redundant, want 2", got)
	}
	err := client.Apply([]byte(`{"error":{"code":1000,"code_string":"StatusNormalClosure","reason":"Deleted","message":"view deleted"}}`))
	var streamError *StreamError
	if !errors.As(err, &streamError) || streamError.Code != 1000 {
		t.Errorf("error %v, want the stream's", err)
	}
}

func TestCompare(t *testing.T) {
	object := func(version string) any {
		return map[string]any{"metadata": map[string]any{"name": "web", "resourceVersion": version}}
	}
	base := Graph{Vertices: map[VertexKey]any{pod: object("1")}, Arcs: map[ArcKey]Attributes{uses: {Missing: true}}}
	tests := map[string]struct {
		got  Graph
		want []string
	}{
		"equal but for resourceVersion": {got: Graph{Vertices: map[VertexKey]any{pod: object("2")}, Arcs: base.Arcs}},
		"everything differs": {
			got:  Graph{Vertices: map[VertexKey]any{setting: nil}, Arcs: map[ArcKey]Attributes{{From: setting, To: pod, Type: "or"}: {}}},
			want: []string{"missing vertex core/v1 pods shop/web", "unexpected vertex core/v1 configmaps", "missing arc", "unexpected arc"},
		},
		"content and attributes": {
			got:  Graph{Vertices: map[VertexKey]any{pod: nil}, Arcs: map[ArcKey]Attributes{uses: {}}},
			want: []string{"content of core/v1 pods shop/web", "attributes of core/v1 pods shop/web -r-> "},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := Compare(base, test.got)
			if (got == "") != (test.want == nil) {
				t.Errorf("difference %q", got)
			}
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("difference %q, want %q in it", got, want)
				}
			}
		})
	}
}

func FuzzApply(f *testing.F) {
	f.Add([]byte(`{"actions":[{"svx":{"vx":` + podJSON + `}},{"sarc":{` + arcJSON + `}}],"rev":"1"}`))
	f.Fuzz(func(_ *testing.T, text []byte) {
		client := Client{Strict: true}
		_ = client.Apply(text) // must not panic
	})
}
