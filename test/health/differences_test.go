package health

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"graphview.dev/graphview/health"
	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// same are the words of the peers for our states.
var same = map[string]map[string]health.State{
	"kstatus": {"Current": health.OK, "InProgress": health.Progressing, "Failed": health.Degraded, "Terminating": health.Terminating},
	"argocd":  {"Healthy": health.OK, "Progressing": health.Progressing, "Degraded": health.Degraded, "Suspended": health.Suspended, "Unknown": health.Unknown},
}

// difference is an intended difference. An empty field matches anything.
type difference struct {
	peer, kind, theirs string
	ours               health.State
	reasons            []string // of ours; none for any
	why                string
	when               func(generation, observed int64) bool // nil for always
}

// older and newer report how the generation that a status is about compares with the
// object's.
func older(generation, observed int64) bool { return 0 < observed && observed < generation }
func newer(generation, observed int64) bool { return observed > generation }

// intended are all differences, in the order in which docs/measured/health.md lists them.
var intended = []difference{
	{"both", "", "Error", "", nil, "The peer refuses an object that it cannot convert, such as an observedGeneration that is text. Fields of another type count as absent here.", nil},
	{"argocd", "", "", health.Terminating, nil, "Argo CD's library judges an object that is being deleted by its kind; its server says Progressing of all of them.", nil},
	{"both", "", "", health.Suspended, []string{"Paused", "Suspended", "JobSuspended"}, "An object that somebody paused or suspended is neither healthy nor on its way. kstatus has no such word; Argo CD has it for some kinds.", nil},
	{"argocd", "", "", health.Progressing, []string{"LatestGenerationNotObserved"}, "Good news that are older than the spec say nothing yet. Argo CD looks at the generation of workloads alone.", nil},

	{"kstatus", "Pod", "InProgress", health.Degraded, []string{"ImagePullBackOff", "ErrImagePull", "CreateContainerConfigError", "CrashLoopBackOff"}, "kstatus waits for ever for a container that cannot start, but for CrashLoopBackOff.", nil},
	{"kstatus", "Pod", "InProgress", health.Degraded, []string{"OOMKilled", "Error", "Completed"}, "A container that ended with an error and is not ready again is trouble, as Argo CD says.", nil},
	{"kstatus", "Pod", "Failed", health.Progressing, []string{"Unschedulable"}, "The health has no clock: a pod without a node is overdue after the same 15 seconds (Health.Overdue).", nil},
	{"kstatus", "Pod", "Current", health.Degraded, nil, "kstatus calls a pod that failed Current, since it has ended, and believes a condition more than the containers.", nil},
	{"argocd", "Pod", "Degraded", health.OK, []string{"Succeeded"}, "A pod that succeeded has succeeded, whatever its containers waited for.", nil},
	{"argocd", "Pod", "Unknown", "", nil, "Argo CD has no opinion without a restart policy or a phase, which the API server writes into each pod. kstatus is followed.", nil},
	{"argocd", "PersistentVolumeClaim", "Unknown", health.Progressing, nil, "A claim without a phase has not been looked at yet, as kstatus says.", nil},
	{"argocd", "Pod", "Progressing", health.Degraded, nil, "Argo CD never fails a pod that may be one of its hooks, and does not look at init containers.", nil},
	{"argocd", "Pod", "Progressing", health.OK, nil, "Argo CD waits for the end of a pod that is not restarted, since it may be one of its hooks. A pod that is ready is as it should be.", nil},
	{"argocd", "Pod", "Degraded", health.Progressing, nil, "Argo CD takes any earlier end of a container for trouble; an end with exit code 0 is none.", nil},

	{"argocd", "Deployment", "Healthy", health.Progressing, nil, "Argo CD looks at the rollout alone. kstatus' rules, followed here, also ask for ready and available replicas.", nil},
	{"argocd", "Deployment", "Progressing", health.OK, nil, "Argo CD waits where the controller has written no generation; kstatus' rules, followed here, judge by the replicas.", nil},
	{"argocd", "Deployment", "Progressing", health.Degraded, []string{"ProgressDeadlineExceeded"}, "Argo CD waits where the controller has written no generation; a deadline that was exceeded is trouble all the same.", nil},
	{"kstatus", "StatefulSet", "Current", health.Progressing, []string{"ScalingUp", "ScalingDown", ""}, "kstatus does not look at a StatefulSet with OnDelete at all. Its pods have to be ready all the same.", nil},
	{"argocd", "StatefulSet", "", "", nil, "kstatus' rules, which are stricter about replicas, revisions and partitions, are followed.", nil},
	{"kstatus", "DaemonSet", "InProgress", health.OK, []string{""}, "With OnDelete, pods of an older revision are no progress: somebody has to delete them.", nil},
	{"argocd", "DaemonSet", "", "", nil, "kstatus' rules, which are stricter about counts, are followed.", nil},
	{"kstatus", "ReplicaSet", "InProgress", health.Degraded, []string{"FailedCreate", "ReplicaFailure"}, "Replicas that cannot be made, for example beyond a quota, are no progress.", nil},
	{"argocd", "ReplicaSet", "", "", nil, "kstatus' rules, which also ask for labelled and ready replicas, are followed.", nil},
	{"kstatus", "Job", "Current", health.Progressing, []string{"Running"}, "kstatus calls a Job that runs Current. It is on its way, as Argo CD says, and never overdue.", nil},
	{"kstatus", "Job", "", "", []string{"Complete", "BackoffLimitExceeded"}, "kstatus goes by the first condition that is True. Failed comes first here.", nil},
	{"kstatus", "CustomResourceDefinition", "Current", health.Degraded, nil, "kstatus goes by the order of the conditions. Names that are not accepted come first here.", nil},
	{"argocd", "Job", "", "", nil, "Argo CD takes conditions that are False or Unknown for True.", nil},
	{"both", "PersistentVolumeClaim", "", health.Unknown, []string{"WaitForFirstConsumer"}, "A claim waits for its first pod, by the mode of its class. As long as nothing provisions it, nothing is wrong.", nil},
	{"argocd", "Service", "Healthy", health.Unknown, nil, "No opinion is unknown, never green: whether anything is behind a Service, its EndpointSlices say.", nil},
	{"kstatus", "Service", "", health.Unknown, nil, "No opinion is unknown, never green: whether anything is behind a Service, its EndpointSlices say.", nil},
	{"kstatus", "PersistentVolumeClaim", "InProgress", health.Degraded, []string{"Lost"}, "A claim whose volume is lost is no progress, as Argo CD says.", nil},
	{"kstatus", "Service", "Current", health.Progressing, []string{"NoAddress"}, "A load balancer without an address is not there yet, as Argo CD says.", nil},
	{"kstatus", "HorizontalPodAutoscaler", "Current", "", nil, "kstatus has no opinion about autoscalers; Argo CD's is followed.", nil},
	{"argocd", "HorizontalPodAutoscaler", "", "", nil, "Argo CD goes by a list of reasons, whatever the condition's status. Here a condition that is False is trouble, whatever its reason.", nil},
	{"kstatus", "Ingress", "Current", health.Unknown, nil, "No opinion is unknown, never green: an Ingress without an address may be served by a controller that writes none.", nil},
	{"argocd", "Ingress", "Healthy", health.Unknown, nil, "An address says nothing of what is behind it: an Ingress may name a port that does not exist.", nil},
	{"argocd", "Ingress", "Progressing", health.Unknown, nil, "Many controllers never write an address, so an Ingress without one may be served all the same.", nil},
	{"argocd", "APIService", "Progressing", health.Degraded, nil, "An aggregated API that does not answer breaks discovery. It is no progress.", nil},
	{"kstatus", "APIService", "Current", "", nil, "kstatus has no opinion about APIServices; Argo CD's is followed, but for the row above.", nil},
	{"kstatus", "Secret", "Current", health.Unknown, nil, "No opinion is unknown, never green: that an object exists says nothing.", nil},
	{"kstatus", "ConfigMap", "Current", health.Unknown, nil, "No opinion is unknown, never green: that an object exists says nothing.", nil},
	{"kstatus", "PodDisruptionBudget", "Current", "", nil, "A budget with fewer healthy pods than it wants blocks each drain.", nil},
	{"kstatus", "", "Current", health.Unknown, nil, "No opinion is unknown, never green: a custom resource without conditions says nothing of itself.", nil},
	{"kstatus", "", "InProgress", health.Degraded, []string{"InstallFailed"}, "Ready=False with a reason that says failure is no progress.", nil},
	{"kstatus", "", "InProgress", health.Degraded, nil, "A failure counts until the controller has looked at the newest spec: after a restart of the controller, that may take hours.", older},
	{"kstatus", "", "InProgress", "", nil, "A status about a generation that the object does not have yet is about another object, or about one that was restored. It says nothing about this one's.", newer},
	{"kstatus", "", "InProgress", health.OK, []string{"Succeeded"}, "An object that is not ready because it is done is not on its way.", nil},
	{"kstatus", "", "InProgress", health.Degraded, []string{"Broken"}, "A condition that names a failure counts before Reconciling: Flux keeps that one True between two attempts.", nil},
	{"kstatus", "Application", "Current", "", nil, "An Application of Argo CD has a health of its own, which is followed.", nil},
}

func (d *difference) covers(peer, theirs string, object map[string]any, ours health.Health) bool {
	kind, _ := object["kind"].(string)
	if d.when != nil && !d.when(numberAt(object, "metadata", "generation"), numberAt(object, "status", "observedGeneration")) {
		return false
	}
	return (d.peer == peer || d.peer == "both") && (d.kind == "" || d.kind == kind) && (d.theirs == "" || d.theirs == theirs) &&
		(d.ours == "" || d.ours == ours.State) && (len(d.reasons) == 0 || slices.Contains(d.reasons, ours.Reason))
}

func numberAt(object map[string]any, in, name string) int64 {
	parent, _ := object[in].(map[string]any)
	switch n := parent[name].(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return 0
}

func TestDifferences(t *testing.T) {
	p := fixture.BuildHealthPeers(t)
	all := append(corpus(t, p), generate(1, 6_500)...)
	verdicts := judge(t, p, all)
	used := make([]int, len(intended))
	compared, differs := 0, 0
	for i, s := range all {
		ours := of(t, s.Object)
		for peer, theirs := range map[string]string{"kstatus": verdicts[i].KStatus.Status, "argocd": verdicts[i].ArgoCD.Status} {
			if theirs == "" {
				continue // it does not know the kind
			}
			compared++
			if same[peer][theirs] == ours.State {
				continue
			}
			differs++
			at := slices.IndexFunc(intended, func(d difference) bool { return d.covers(peer, theirs, s.Object, ours) })
			if at < 0 {
				text, _ := json.Marshal(s.Object)
				t.Errorf("%s: %s says %s, health says %s %q, and no difference that is meant covers it\n%s", s.Name, peer, theirs, ours.State, ours.Reason, text)
				continue
			}
			used[at]++
		}
	}
	t.Logf("%d objects, %d comparisons, %d differences", len(all), compared, differs)
	for i, d := range intended {
		if used[i] == 0 {
			t.Errorf("nothing shows the difference %+v: it may go", d)
		}
	}
}

// of judges the object.
func of(t *testing.T, object map[string]any) health.Health {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	apiVersion, _ := object["apiVersion"].(string)
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		group = ""
	}
	kind, _ := object["kind"].(string)
	return health.Of(health.Kind{Group: group, Kind: kind}, text)
}

// TestDocumented holds docs/measured/health.md's table to the list above.
func TestDocumented(t *testing.T) {
	root, err := env.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(root, "docs", "measured", "health.md")
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if want := table(); !strings.Contains(string(page), want) {
		t.Errorf("%s does not have the table of differences as it is:\n%s", name, want)
	}
}

func table() string {
	var b strings.Builder
	b.WriteString("| differs from | kind | there | here | why |\n|---|---|---|---|---|\n")
	names := map[string]string{"both": "both", "kstatus": "kstatus", "argocd": "Argo CD"}
	oneOf := func(text string) string {
		if text == "" {
			return "any"
		}
		return text
	}
	for _, d := range intended {
		here := oneOf(string(d.ours))
		if len(d.reasons) > 0 {
			here += " (" + strings.Join(slices.DeleteFunc(slices.Clone(d.reasons), func(r string) bool { return r == "" }), ", ") + ")"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", names[d.peer], oneOf(d.kind), oneOf(d.theirs), strings.Replace(here, " ()", "", 1), d.why)
	}
	return b.String()
}

// TestOverdue: what time changes is in the health, and applied by At.
func TestOverdue(t *testing.T) {
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	h := health.Of(health.Kind{Group: "example.com", Kind: "Widget"},
		[]byte(`{"status":{"conditions":[{"type":"Ready","status":"False","reason":"Waiting","lastTransitionTime":"`+since.Format(time.RFC3339)+`"}]}}`))
	for after, want := range map[time.Duration]health.State{0: health.Progressing, health.Patience - time.Second: health.Progressing, health.Patience: health.Degraded} {
		if got := h.At(since.Add(after)); got.State != want || got.Reason != "Waiting" {
			t.Errorf("after %v: %+v, want %s", after, got, want)
		}
	}
}
