package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"graphview.dev/client"
)

// offlineView has no server to ask for kinds.
func offlineView() (meta.RESTMapper, error) { return nil, errors.New("no server") }

// Lines of messages, over a reset and lost connections.
func TestJournal(t *testing.T) {
	const (
		podA   = `{"g":"","v":"v1","r":"pods","ns":"shop","n":"a"}`
		podB   = `{"g":"","v":"v1","r":"pods","ns":"other","n":"b"}`
		setA   = `{"svx":{"vx":` + podA + `,"o":{"kind":"Pod","status":{"phase":"Running"}}}}`
		lateA  = `{"svx":{"vx":` + podA + `,"o":{"kind":"Pod","status":{"phase":"Failed"}}}}`
		setB   = `{"svx":{"vx":` + podB + `}}`
		arc    = `"s":` + podA + `,"d":` + podB + `,"t":"t"`
		denied = `{"t":"ACCESS_DENIED","m":"not for you","a":{"r":"secrets"}}`
	)
	steps := []struct {
		message, want, wantChangesOnly string
		own                            bool
	}{
		{
			message: `{"actions":[` + setA + `,{"sarc":{` + arc + `,"a":{"e":true,"f":["spec.x"]}}}],"warnings":[` + denied + `],"rev":"1","synced":true}`,
			want: "+ Pod/a  NotReady\n+ Pod/a names Pod/other/b  MISSING  (spec.x)\n! ACCESS_DENIED: not for you\n" +
				"= the graph is complete: 1 object, 1 reference, 1 missing\n",
			wantChangesOnly: "= the graph is complete: 1 object, 1 reference, 1 missing\n",
		},
		{message: `{"actions":[` + setB + `,{"sarc":{` + arc + `,"a":{"f":["spec.x"]}}}],"rev":"2"}`, want: "+ Pod/other/b\n~ Pod/a names Pod/other/b  (spec.x)\n"},
		{message: `{"actions":[` + lateA + `],"rev":"3"}`, want: "~ Pod/a  Failed\n"},
		{message: `{"cleared":[` + denied + `]}`, want: "", own: true},
		{message: `{"warnings":[` + denied + `],"rev":"3","synced":true}`, want: ""},
		{message: `{"cleared":[` + denied + `]}`, want: "! over: ACCESS_DENIED: not for you\n"},
		{message: `{"reset":true}`, want: ""},
		{message: `{"actions":[` + lateA + `],"rev":"9","synced":true}`, want: "- Pod/a names Pod/other/b  (spec.x)\n- Pod/other/b\n"},
		{message: `{"actions":[{"dvx":{"vx":` + podA + `}},{"dvx":{"vx":` + podB + `}}],"rev":"10"}`, want: "- Pod/a  Failed\n"},
		{message: `{"error":{"code":1001,"reason":"Stopping","message":"stopping"}}`, want: "the server ends the stream: stopping\n"},
	}
	for _, changesOnly := range []bool{false, true} {
		var out bytes.Buffer
		graph := &client.Graph{}
		c := &cli{IOStreams: genericiooptions.IOStreams{Out: &out}, mapper: offlineView}
		j := newJournal(c, "shop", graph, false, changesOnly)
		for i, step := range steps {
			var m client.Received
			if err := json.Unmarshal([]byte(step.message), &m.Message); err != nil {
				t.Fatal(err)
			}
			m.Own = step.own
			graph.Apply(&m.Message)
			out.Reset()
			if err := j.write(&m); err != nil {
				t.Fatal(err)
			}
			want := step.want
			if changesOnly && i == 0 {
				want = step.wantChangesOnly
			}
			if diff := cmp.Diff(want, out.String()); diff != "" {
				t.Errorf("message %d (-want +got):\n%s", i+1, diff)
			}
		}
	}
}
