package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"graphview.dev/client"
)

// deployment is the object of the questions.
var deployment = client.Key{Group: "apps", Resource: "deployments", Namespace: "shop", Name: "web"}

// Objects of an application, by a word. Each is KIND/NAME with the step that leads to it.
var shop = map[string]client.Change{
	"deployment": {Key: deployment, Kind: "Deployment"},
	"pod-a": {
		Key: client.Key{Resource: "pods", Namespace: "shop", Name: "web-7c9-a"}, Kind: "Pod",
		Via: &client.ChangeVia{Key: client.Key{Group: "apps", Resource: "replicasets", Namespace: "shop", Name: "web-7c9"}, Kind: "ReplicaSet", Up: true, Depth: 2},
	},
	"service":   usedBy("selects", true, client.Change{Key: client.Key{Resource: "services", Namespace: "shop", Name: "web"}, Kind: "Service"}),
	"configmap": usedBy("mounts", false, client.Change{Key: client.Key{Resource: "configmaps", Namespace: "shop", Name: "web"}, Kind: "ConfigMap"}),
	"other":     usedBy("mounts", false, client.Change{Key: client.Key{Resource: "configmaps", Namespace: "shop", Name: "flags"}, Kind: "ConfigMap"}),
	"node":      usedBy("is on", false, client.Change{Key: client.Key{Resource: "nodes", Name: "n1"}, Kind: "Node"}),
}

func usedBy(word string, up bool, c client.Change) client.Change {
	c.Via = &client.ChangeVia{Key: deployment, Kind: "Deployment", Words: []string{word}, Up: up, Depth: 1}
	return c
}

// history is an answer about the Deployment, of lines with the seconds before now, an object, and a change, which is added,
// removed, the health, or a path; the newest first.
func history(t *testing.T, lines string) *client.Changes {
	t.Helper()
	answer := &client.Changes{Object: &deployment}
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		c, known := shop[words[1]]
		if !known {
			t.Fatalf("no object %q", words[1])
		}
		var second int
		if _, err := fmt.Sscan(words[0], &second); err != nil {
			t.Fatal(err)
		}
		c.Time = metav1.NewMicroTime(time.Date(2026, 1, 1, 12, 0, second, 0, time.Local))
		switch word := words[2]; {
		case word == "added", word == "removed":
			c.Type = client.ChangeType(word)
		case strings.Contains(word, "."):
			c.Type, c.Paths = client.ChangeContent, []client.ChangedPath{{Path: word, Op: client.OpChanged}}
		default:
			c.Type, c.Health = client.ChangeHealth, &client.HealthChange{To: word}
		}
		answer.Changes = append(answer.Changes, c)
	}
	return answer
}

// TestFoldChanges: each act has a line, with the two worst of its consequences. The page has the same table.
func TestFoldChanges(t *testing.T) {
	text, err := os.ReadFile("../../../../client/testdata/changes.json")
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		Changes []int // indices, the newest first
		Kubectl string
	}
	var tests map[string]struct {
		client.Changes
		Lines []line
		Left  int
	}
	if err := json.Unmarshal(text, &tests); err != nil {
		t.Fatal(err)
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			onThisClock(tt.Changes.Changes)
			k := (&cli{mapper: offlineView}).newKinds("shop", &client.Graph{})
			k.learnKinds(&tt.Changes)
			lines, left := foldChanges(tt.Changes.Changes, tt.Object)
			indices := map[*client.Change]int{}
			for i := range tt.Changes.Changes {
				indices[&tt.Changes.Changes[i]] = i
			}
			var got []line
			for i := range lines {
				cells := lines[i].cells(k)
				cells[0] = lines[i].time().Format(time.TimeOnly)
				one := line{Kubectl: strings.TrimSpace(strings.Join(cells, " "))}
				for _, c := range lines[i].changes {
					one.Changes = append(one.Changes, indices[c])
				}
				got = append(got, one)
			}
			if diff := cmp.Diff(tt.Lines, got); diff != "" || left != tt.Left {
				t.Errorf("%d changes are left, want %d; lines (-want +got):\n%s", left, tt.Left, diff)
			}
		})
	}
}

// onThisClock moves changes so that a clock of this machine shows their times as a clock in UTC did.
func onThisClock(changes []client.Change) {
	for i := range changes {
		for _, at := range []*metav1.MicroTime{&changes[i].Time, changes[i].Earliest, changes[i].First} {
			if at != nil {
				u := at.UTC()
				at.Time = time.Date(u.Year(), u.Month(), u.Day(), u.Hour(), u.Minute(), u.Second(), u.Nanosecond(), time.Local)
			}
		}
	}
}

// TestActBefore: the change before a problem is the last act before the object got worse.
func TestActBefore(t *testing.T) {
	for name, tt := range map[string]struct {
		changes string
		since   int64
		want    string
	}{
		"nothing":               {"1 deployment degraded", 0, ""},
		"before it began":       {"9 configmap data.x\n5 deployment degraded\n4 deployment progressing\n3 deployment spec.image\n2 other data.y", 0, "deployments"},
		"a former trouble":      {"9 deployment degraded\n8 other data.y\n7 deployment ok\n6 deployment degraded\n5 service spec.x", 0, "configmaps"},
		"no consequence":        {"5 deployment degraded\n4 pod-a added\n3 configmap removed", 0, "configmaps"},
		"only since is known":   {"9 configmap data.x\n2 service spec.x", time.Date(2026, 1, 1, 12, 0, 5, 0, time.Local).Unix(), "services"},
		"nothing else is known": {"9 configmap data.x\n2 service spec.x", 0, "configmaps"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if c := actBefore(history(t, tt.changes), tt.since); c != nil {
				got = c.Key.Resource
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestMoment: a time is parsed into the form of the server, and the error of a mistake names the expected form.
func TestMoment(t *testing.T) {
	now := time.Date(2026, 3, 1, 10, 30, 0, 0, time.UTC)
	for text, want := range map[string]string{"2h": "2h0m0s", "-2h": "2h0m0s", "90s": "1m30s", "2d": "48h0m0s", "2026-01-01T14:00:00+02:00": "2026-01-01T12:00:00Z"} {
		var m moment
		if err := m.Set(text); err != nil || m.asked != want {
			t.Errorf("%s is %q, %v; want %q", text, m.asked, err, want)
		}
	}
	for _, text := range []string{"", "2", "yesterday", "--2h", "25:00", "2026-01-01"} {
		var m moment
		if err := m.Set(text); err == nil {
			t.Errorf("%q is %q", text, m.asked)
		}
	}
	for text, want := range map[string]time.Time{"10:00": now.Add(-30 * time.Minute), "11:00": now.Add(-23*time.Hour - 30*time.Minute)} {
		at, err := time.Parse("15:04", text)
		if err != nil {
			t.Fatal(err)
		}
		if got := onDay(at, now); !got.Equal(want) {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

// TestProblemsBefore: the act before a problem stands below the problem, and above its consequences.
func TestProblemsBefore(t *testing.T) {
	act := history(t, "1 configmap data.x").Changes[0]
	pod := shop["pod-a"].Key
	found := findings{graphs: 1, problems: []problem{
		{
			object: "Deployment/web", key: deployment, kind: "Deployment", state: "degraded", reason: "NotReady", before: &act,
			stops: []problem{{object: "Pod/web-7c9-a", key: pod, kind: "Pod", state: "degraded", reason: "NotReady", controlled: true}},
		},
		{object: "Node/n1", key: shop["node"].Key, kind: "Node", state: "degraded", reason: "NotReady"},
	}}
	for output, want := range map[string][]string{
		outputTable: {"OBJECT", "Deployment/web degraded - NotReady", "after TIME ConfigMap/web data.x changed", "with Pod/web-7c9-a", "Node/n1 degraded - NotReady"},
		outputWide:  {"OBJECT", "Deployment/web degraded - NotReady", "after TIME ConfigMap/web data.x changed", "Pod/web-7c9-a degraded - NotReady", "Node/n1 degraded - NotReady"},
	} {
		var out bytes.Buffer
		c := &cli{IOStreams: genericiooptions.IOStreams{Out: &out}, mapper: offlineView}
		if err := c.writeProblems(output, found); err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(strings.ReplaceAll(out.String(), clock(act.Time.Time), "TIME")) {
			got = append(got, strings.Join(strings.Fields(line), " "))
		}
		got[0] = strings.Fields(got[0])[0]
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-o %s (-want +got):\n%s", output, diff)
		}
	}
}
