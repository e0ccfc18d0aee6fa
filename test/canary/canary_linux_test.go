package canary

import (
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"graphview.dev/test/fixture"
)

// curious are views that try to see into Secrets.
var curious = map[string]string{
	"whole":  `queries: [{include: {resourceSelectorExpression: "group == '' && resource in ['secrets', 'configmaps']"}}]`,
	"parts":  `queries: [{include: {resourceSelectorExpression: "resource == 'secrets'", object: {jsonPath: "{.data}{.stringData}{.metadata.annotations}{..release}"}}}]`,
	"named":  `queries: [{include: {resourceSelectorExpression: "resource == 'secrets'", object: {fields: {data: .data, notes: .metadata.annotations, all: "{..}", labels: .metadata.labels}}}}]`,
	"chosen": `queries: [{include: {resourceSelectorExpression: "resource == 'secrets'", object: {objectSelectorExpression: "string(obj.data.token) != ''"}}}]`,
	"annotated": `queries: [{include: {resourceSelectorExpression: "resource == 'secrets'",
      object: {objectSelectorExpression: "duration(annotations['kubectl.kubernetes.io/last-applied-configuration']) > duration('1s')"}}}]`,
	"labelled": `queries: [{include: {resourceSelectorExpression: "resource == 'secrets'", object: {labelSelector: "tier notin (none)"}}}]`,
	"releases": `queries: [{include: {resourceSelectorExpression: "resource == 'secrets'", object: {fieldSelector: "type=helm.sh/release.v1"}}},
    {include: {resourceSelectorExpression: "resource in ['deployments', 'configmaps']"}}]`,
	"rooted": `queries: [{include: {resourceSelectorExpression: "group == '' && resource in ['secrets', 'configmaps']"}}]
  roots: {objectSelectorExpressions: ["timestamp(obj.data.token) > timestamp('2026-01-01T00:00:00Z')", "resource == 'secrets'"]}`,
}

// curiousRule judges Secrets by what is in them, and says it as the reason.
const curiousRule = `
apiVersion: graphview.dev/v1alpha1
kind: ReferenceRule
metadata: {name: curious}
spec:
  from: {group: "", kind: Secret}
  health:
    expression: >-
      has(obj.data) ? {'state': 'degraded', 'reason': string(obj.data.token)}
      : has(obj.stringData) ? {'state': 'degraded', 'reason': string(obj.stringData.password)}
      : {'state': 'ok', 'reason': obj.metadata.?annotations['kubectl.kubernetes.io/last-applied-configuration'].orValue('Nothing')}
`

// control is the name of a value that must be found: the name of a Secret.
const control = "control"

// stored is the name of a piece of a release as the API server has it.
const stored = "release as stored"

// stash has the hidden values by name, and the control.
type stash struct {
	hidden map[string]string
	// blob is a piece of a release in the form that the API server has it in.
	blob string
}

func newStash() *stash {
	s := &stash{hidden: map[string]string{control: fmt.Sprintf("control-%016x", rand.Uint64())}}
	for _, name := range []string{
		"data", "string data", "patched data", "patched annotation", "release manifest", "release environment", "release notes", "release config",
		"release hook", "chart values", "chart template",
	} {
		s.hidden[name] = fmt.Sprintf("canary-%016x-%s", rand.Uint64(), strings.ReplaceAll(name, " ", "-"))
	}
	return s
}

// needles are all that is searched for.
func (s *stash) needles() map[string][]byte {
	all := map[string][]byte{stored: []byte(s.blob)}
	for name, value := range s.hidden {
		maps.Copy(all, forms(name, value))
	}
	return all
}

// fill makes Secrets as people do: applied, patched, and by Helm.
func (s *stash) fill(t *testing.T) {
	t.Helper()
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	fixture.KubectlApply(t, cluster, fmt.Sprintf(`
apiVersion: v1
kind: Secret
metadata: {name: %[1]s, namespace: hidden, labels: {tier: back}}
data: {token: %[2]s}
stringData: {password: %[3]s}
`, s.hidden[control], encode(s.hidden["data"]), s.hidden["string data"]))
	release := encode(helmRelease(t, "hidden", 1, s.hidden))
	s.blob = release[len(release)/2 : len(release)/2+64]
	fixture.KubectlApply(t, cluster, fmt.Sprintf(`
apiVersion: v1
kind: Secret
metadata:
  name: sh.helm.release.v1.shop.v1
  namespace: hidden
  labels: {owner: helm, name: shop, status: deployed, version: "1"}
type: helm.sh/release.v1
data: {release: %s}
`, release))
	if stored := kubectl(t, "get", "secret", "-n", "hidden", s.hidden[control], "-o", "yaml"); !strings.Contains(stored, s.hidden["string data"]) {
		t.Fatalf("kubectl apply left no annotation:\n%s", stored)
	}
}

// change patches the Secrets, so that they come as events too.
func (s *stash) change(t *testing.T) {
	t.Helper()
	kubectl(t, "patch", "secret", "-n", "hidden", s.hidden[control], "--type=merge", "-p",
		fmt.Sprintf(`{"stringData":{"token":%q},"metadata":{"labels":{"tier":"front"}}}`, s.hidden["patched data"]))
	kubectl(t, "annotate", "secret", "-n", "hidden", "--overwrite", s.hidden[control],
		fmt.Sprintf(`kubectl.kubernetes.io/last-applied-configuration={"stringData":{"token":%q}}`, s.hidden["patched annotation"]))
	kubectl(t, "label", "secret", "-n", "hidden", "sh.helm.release.v1.shop.v1", "modified=now")
}

// TestMemory: the data of Secrets is nowhere in the operator's memory but in buffers of
// connections to the API server, and in no output.
//
// With HTTP/2 all requests share the buffers, and some outlive their connection in the
// transport, so each hit must be in an object as it was sent. With HTTP/1.1 the buffers of
// a connection end with it, so there must be no hit after the API server has stopped.
func TestMemory(t *testing.T) {
	kubectl(t, "create", "namespace", "hidden")
	fixture.Apply(t, cluster, curiousRule)
	for name, test := range map[string]struct {
		environment map[string]string
		wantGone    bool
	}{
		"HTTP/2":   {},
		"HTTP/1.1": {environment: map[string]string{"DISABLE_HTTP2": "true"}, wantGone: true},
	} {
		t.Run(name, func(t *testing.T) {
			kept := t.TempDir()
			startOperator(t, test.environment, "--history-dir="+kept)
			s := newStash()
			s.fill(t)
			client, streams := port(t), subscribeAll(t)
			s.change(t)
			s.wantCome(t, streams)
			collect(t)
			wantSent(t, s.search(t))
			s.wantUnsaid(t, client, streams)
			defer func() {
				manager.Kill()
				wantUnstored(t, kept, s.needles(), control)
			}()

			cluster.StopAPIServer()
			defer func() {
				if err := cluster.StartAPIServer(t.Context()); err != nil {
					t.Fatal(err)
				}
			}()
			if !test.wantGone {
				collect(t)
				wantSent(t, s.search(t))
				return
			}
			// A connection ends when the program has noticed.
			eventually(t, func() string {
				collect(t)
				for name, hits := range s.search(t) {
					if name != control {
						return fmt.Sprintf("in memory, with no connection to the API server: %s", hits[0])
					}
				}
				return ""
			})
		})
	}
}

// subscribeAll declares the views, if they are not, and subscribes to them.
func subscribeAll(t *testing.T) map[string]*subscriber {
	t.Helper()
	client, streams := port(t), map[string]*subscriber{}
	for view, spec := range curious {
		fixture.Apply(t, cluster, fmt.Sprintf("apiVersion: graphview.dev/v1alpha1\nkind: GraphView\nmetadata: {name: %s, namespace: hidden}\nspec:\n  %s\n  namespaces: {names: [hidden]}\n", view, spec))
		kubectl(t, "wait", "--for=condition=Ready", "-n", "hidden", "gv/"+view, fixture.Timeout())
		// The condition may be of an operator that is gone.
		eventually(t, func() string {
			if code, body := tryGet(t, client, graphPath("", view)); code != http.StatusOK {
				return fmt.Sprintf("%s: %d %s", view, code, body)
			}
			return ""
		})
		streams[view] = subscribe(t, client, view, "")
		streams[view+", summaries"] = subscribe(t, client, view, "?content=summary")
	}
	return streams
}

// wantCome waits until all that was changed before has come. Each watch tells
// in order, so it has with a Secret that is made now.
func (s *stash) wantCome(t *testing.T, streams map[string]*subscriber) {
	t.Helper()
	last := fmt.Sprintf("last-%016x", rand.Uint64())
	kubectl(t, "create", "secret", "generic", "-n", "hidden", last)
	for _, view := range []string{"whole", "parts", "labelled", "rooted", "whole, summaries", "rooted, summaries"} {
		eventually(t, func() string {
			if text := streams[view].text(); !strings.Contains(text, last) || !strings.Contains(text, s.hidden[control]) {
				return fmt.Sprintf("the stream of %s has not got so far: %.2000s", view, text)
			}
			return ""
		})
	}
}

// wantSent wants everything that was found, but for the control, in objects as
// the API server sent them. A release in the form that it is stored in may be
// larger than the buffer that a part of it is left in, which then has nothing
// beside it to be told by: for that, the run with HTTP/1.1 tells.
func wantSent(t *testing.T, found map[string][]hit) {
	t.Helper()
	for name, hits := range found {
		for _, h := range hits {
			if name != control && name != stored && !h.sent() {
				t.Errorf("in memory, and not as it was sent: %s", h)
			}
		}
	}
}

// search looks for everything, and says what it found.
func (s *stash) search(t *testing.T) map[string][]hit {
	t.Helper()
	hits, searched, err := search(manager.PID(), s.needles())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]hit{}
	for _, h := range hits {
		found[h.needle] = append(found[h.needle], h)
	}
	t.Logf("%d MiB searched for %d values", searched>>20, len(s.needles()))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		sent := 0
		for _, h := range found[name] {
			if h.sent() {
				sent++
			}
		}
		t.Logf("%s: found %d times, %d of them as the API server sent it", name, len(found[name]), sent)
	}
	if len(found[control]) == 0 {
		t.Fatal("the name of a Secret is not found: the search sees nothing")
	}
	return found
}

// wantUnsaid wants no canary in anything that the operator has said.
func (s *stash) wantUnsaid(t *testing.T, client *http.Client, streams map[string]*subscriber) {
	t.Helper()
	log, err := os.ReadFile(manager.LogPath())
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{
		"log": string(log), "metrics": metrics(t),
		"GraphViews": kubectl(t, "get", "graphviews", "-A", "-o", "yaml"),
		"Events":     kubectl(t, "get", "events.events.k8s.io", "-A", "-o", "yaml"),
	}
	for view, stream := range streams {
		said["stream of "+view] = stream.text()
	}
	for view := range curious {
		said["graph of "+view] = get(t, client, graphPath("", view))
		said["summaries of "+view] = get(t, client, graphPath("", view)+"?content=summary")
		said["changes of "+view] = get(t, client, graphPath("", view)+"?changes=&limit=1000")
		said["past of "+view] = get(t, client, graphPath("", view)+"?at=0s")
	}
	// The rule was asked, and saw nothing.
	if judged := `"k":"Secret","h":"ok","w":"Nothing"`; !strings.Contains(said["summaries of whole"], judged) || strings.Contains(said["summaries of whole"], "degraded") {
		t.Errorf("no summary has %s: %.2000s", judged, said["summaries of whole"])
	}
	for what, text := range said {
		for name, needle := range s.needles() {
			if at := strings.Index(text, string(needle)); at >= 0 && name != control {
				t.Errorf("%s says %s: …%.300s", what, name, text[max(0, at-150):])
			}
		}
		if len(text) < 100 {
			t.Errorf("%s is no more than %q", what, text)
		}
	}
}
