package command

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"graphview.dev/client"
)

// Objects of an application, by a word. Each is KIND/NAME with the owner and the step that lead to it.
var shop = map[string]client.Change{
	"deployment": {Key: client.Key{Group: "apps", Resource: "deployments", Namespace: "shop", Name: "web"}, Kind: "Deployment"},
	"replicaset": ownedBy("deployment", client.Change{Key: client.Key{Group: "apps", Resource: "replicasets", Namespace: "shop", Name: "web-7c9"}, Kind: "ReplicaSet"}, 1),
	"pod-a":      ownedBy("replicaset", client.Change{Key: client.Key{Resource: "pods", Namespace: "shop", Name: "web-7c9-a"}, Kind: "Pod"}, 2),
	"pod-b":      ownedBy("replicaset", client.Change{Key: client.Key{Resource: "pods", Namespace: "shop", Name: "web-7c9-b"}, Kind: "Pod"}, 2),
	"slice":      ownedBy("service", client.Change{Key: client.Key{Group: "discovery.k8s.io", Resource: "endpointslices", Namespace: "shop", Name: "web-x"}, Kind: "EndpointSlice"}, 4),
	"service":    usedBy("selects", true, client.Change{Key: client.Key{Resource: "services", Namespace: "shop", Name: "web"}, Kind: "Service"}),
	"configmap":  usedBy("mounts", false, client.Change{Key: client.Key{Resource: "configmaps", Namespace: "shop", Name: "web"}, Kind: "ConfigMap"}),
	"other":      usedBy("mounts", false, client.Change{Key: client.Key{Resource: "configmaps", Namespace: "shop", Name: "flags"}, Kind: "ConfigMap"}),
	"node":       usedBy("is on", false, client.Change{Key: client.Key{Resource: "nodes", Name: "n1"}, Kind: "Node"}),
	"lease":      {Key: client.Key{Group: "coordination.k8s.io", Resource: "leases", Namespace: "shop", Name: "leader"}, Kind: "Lease"},
}

var keys = map[string]client.Key{
	"deployment": {Group: "apps", Resource: "deployments", Namespace: "shop", Name: "web"},
	"replicaset": {Group: "apps", Resource: "replicasets", Namespace: "shop", Name: "web-7c9"},
	"service":    {Resource: "services", Namespace: "shop", Name: "web"},
}

func ownedBy(owner string, c client.Change, depth int) client.Change {
	key := keys[owner]
	c.Via = &client.ChangeVia{Key: key, Kind: map[string]string{"deployment": "Deployment", "replicaset": "ReplicaSet", "service": "Service"}[owner], Up: true, Depth: depth}
	return c
}

func usedBy(word string, up bool, c client.Change) client.Change {
	c.Via = &client.ChangeVia{Key: keys["deployment"], Kind: "Deployment", Words: []string{word}, Up: up, Depth: 1}
	return c
}

// history is an answer about the Deployment, of lines with the seconds before now, an object, and a change, which is added,
// removed, unrecorded, the health and its reason, or a path; the newest first.
func history(t *testing.T, lines string) *client.Changes {
	t.Helper()
	object := keys["deployment"]
	answer := &client.Changes{Object: &object}
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
		case word == "unrecorded":
			c.Type, c.Earliest = client.ChangeContent, &metav1.MicroTime{Time: c.Time.Add(-time.Second)}
		case strings.Contains(word, "."):
			c.Type, c.Paths = client.ChangeContent, []client.ChangedPath{{Path: word, Op: client.OpChanged}}
			if len(words) > 4 {
				c.Paths[0].Before, c.Paths[0].After = &words[3], &words[4]
			}
		case word == "missing":
			c.Type, c.Reference = client.ChangeReference, &client.ReferenceChange{To: shop[words[3]].Key, Kind: shop[words[3]].Kind, Type: "r", Words: []string{"mounts"}, Change: client.OpMissing}
		default:
			c.Type, c.Health = client.ChangeHealth, &client.HealthChange{To: word}
			if len(words) > 3 {
				c.Health.Why = words[3]
			}
		}
		answer.Changes = append(answer.Changes, c)
	}
	return answer
}

// TestFoldChanges: each act has a line, with the two worst of its consequences.
func TestFoldChanges(t *testing.T) {
	for name, tt := range map[string]struct {
		changes string
		want    []string
		left    int
	}{
		"a rollout": {`
			9 slice      endpoints.x
			8 deployment degraded    ProgressDeadlineExceeded
			7 pod-b      degraded    ImagePullBackOff
			6 pod-a      degraded    ImagePullBackOff
			5 pod-b      progressing
			4 pod-b      added
			4 pod-a      added
			3 replicaset progressing
			3 replicaset added
			3 deployment progressing
			2 deployment spec.image  1.4 1.5
			1 configmap  data.flags`,
			[]string{
				"12:00:08 Deployment/web degraded: ProgressDeadlineExceeded",
				"12:00:07 Pod ×2 (web-7c9-…) degraded: ImagePullBackOff, added owned by ReplicaSet/web-7c9",
				"12:00:02 Deployment/web spec.image: 1.4 → 1.5",
				"12:00:01 ConfigMap/web data.flags changed mounted by Deployment/web",
			}, 3},
		"noise": {`
			9 lease      spec.renewTime
			8 deployment metadata.annotations[deployment.kubernetes.io/revision]
			7 configmap  metadata.resourceVersion
			6 configmap  removed
			5 lease      added`,
			[]string{"12:00:06 ConfigMap/web removed mounted by Deployment/web"}, 4},
		"a restart of the operator": {`
			9 configmap  unrecorded
			8 lease      unrecorded`,
			[]string{"12:00:09 ConfigMap/web changed while nothing was recorded (between 2026-01-01 12:00:08 and 2026-01-01 12:00:09) mounted by Deployment/web"}, 1},
		"a missing object": {`
			3 deployment missing configmap
			2 configmap  removed
			1 deployment missing other`,
			[]string{
				"12:00:02 ConfigMap/web removed mounted by Deployment/web",
				"12:00:01 Deployment/web mounts ConfigMap/flags, which is missing",
			}, 1},
		"a node": {`
			3 deployment progressing
			2 pod-a      degraded NotReady
			1 node       degraded NotReady`,
			[]string{
				"12:00:03 Deployment/web progressing",
				"12:00:02 Pod/web-7c9-a degraded: NotReady owned by ReplicaSet/web-7c9",
				"12:00:01 Node/n1 degraded: NotReady has Deployment/web",
			}, 0},
		"equal changes of two objects": {`
			3 other      data.x
			2 pod-a      degraded
			1 configmap  data.x`,
			[]string{
				"12:00:03 ConfigMap ×2 (flags, …) data.x changed mounted by Deployment/web",
				"12:00:02 Pod/web-7c9-a degraded owned by ReplicaSet/web-7c9",
			}, 0},
		"consequences that are good": {`
			5 pod-a      ok
			4 configmap  data.x
			3 deployment ok
			3 pod-b      added
			2 other      data.y`,
			[]string{
				"12:00:05 Pod/web-7c9-a ok owned by ReplicaSet/web-7c9",
				"12:00:04 ConfigMap/web data.x changed mounted by Deployment/web",
				"12:00:02 ConfigMap/flags data.y changed mounted by Deployment/web",
			}, 2},
		"a consequence that was recorded first": {`
			3 pod-a      degraded ImagePullBackOff
			2 deployment spec.image 1.4 1.5
			2 pod-a      added`,
			[]string{
				"12:00:03 Pod/web-7c9-a degraded: ImagePullBackOff, added owned by ReplicaSet/web-7c9",
				"12:00:02 Deployment/web spec.image: 1.4 → 1.5",
			}, 0},
		"an object that is well again": {`
			3 pod-a      ok
			2 pod-a      degraded CrashLoopBackOff
			1 service    spec.selector`,
			[]string{
				"12:00:03 Pod/web-7c9-a ok owned by ReplicaSet/web-7c9",
				"12:00:01 Service/web spec.selector changed selects Deployment/web",
			}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			answer := history(t, tt.changes)
			k := (&cli{mapper: offlineView}).newKinds("shop", &client.Graph{})
			k.learnKinds(answer)
			lines, left := foldChanges(answer.Changes, answer.Object)
			var got []string
			for i := range lines {
				cells := lines[i].cells(k)
				cells[0] = lines[i].time().Format(time.TimeOnly)
				got = append(got, strings.TrimSpace(strings.Join(cells, " ")))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || left != tt.left {
				t.Errorf("%d changes are left, want %d; lines (-want +got):\n%s", left, tt.left, diff)
			}
		})
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
			object: "Deployment/web", key: keys["deployment"], kind: "Deployment", state: "degraded", reason: "NotReady", before: &act,
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
