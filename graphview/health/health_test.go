package health

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"graphview.dev/graphview/jsontree"
)

// judge judges an object in compact JSON, and its parts as they were read with others.
func judge(tb testing.TB, kind Kind, text []byte) Health {
	tb.Helper()
	var parts jsontree.Parts
	if _, err := parts.PartAndRead(text, &jsontree.Shape{}, Shape); err != nil {
		tb.Fatal(err)
	}
	want, got := Of(kind, text), OfParts(kind, &parts)
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Errorf("%v: of parts that were read beside others (-want +got):\n%s", kind, diff)
	}
	return got
}

// judgeYAML is judge for an object in YAML.
func judgeYAML(tb testing.TB, kind Kind, text string) Health {
	tb.Helper()
	converted, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return judge(tb, kind, converted)
}

func TestOf(t *testing.T) {
	const at, began = "2026-01-02T03:04:05Z", int64(1767323045)
	for name, test := range map[string]struct {
		kind   Kind
		object string
		want   Health
	}{
		"deleted":            {Kind{"", "ConfigMap"}, `metadata: {deletionTimestamp: "` + at + `"}`, Health{State: Terminating, Since: began, Overdue: began + 600}},
		"no opinion":         {Kind{"example.com", "Widget"}, `spec: {}`, Health{State: Unknown}},
		"nothing at all":     {Kind{}, `{}`, Health{State: Unknown}},
		"suspended":          {Kind{"helm.toolkit.fluxcd.io", "HelmRelease"}, `{spec: {suspend: true}, status: {conditions: [{type: Ready, status: "False", reason: InstallFailed}]}}`, Health{State: Suspended, Reason: "Suspended"}},
		"paused, counted":    {Kind{"apps", "Deployment"}, `{spec: {paused: true, replicas: 3}, status: {readyReplicas: 2}}`, Health{State: Suspended, Reason: "Paused", Ready: 2, Wanted: 3, Counted: true}},
		"old generation":     {Kind{"example.com", "Widget"}, `{metadata: {generation: 2}, status: {observedGeneration: 1, conditions: [{type: Ready, status: "True"}]}}`, Health{State: Progressing, Reason: "LatestGenerationNotObserved", Untimed: true}},
		"generation is text": {Kind{"argoproj.io", "Rollout"}, `{metadata: {generation: 2}, spec: {replicas: 1}, status: {observedGeneration: 7f9c, phase: Healthy, readyReplicas: 1}}`, Health{State: OK, Reason: "Healthy", Ready: 1, Wanted: 1, Counted: true}},
		"number as text":     {Kind{"argoproj.io", "Rollout"}, `{metadata: {generation: 2}, status: {observedGeneration: "2", phase: Paused}}`, Health{State: Suspended, Reason: "Paused", Wanted: 1, Counted: true}},
		"ready waits":        {Kind{"example.com", "Widget"}, `{status: {conditions: [{type: Ready, status: "False", reason: Waiting, lastTransitionTime: "` + at + `"}]}}`, Health{State: Progressing, Reason: "Waiting", Since: began, Overdue: began + 600}},
		"ready failed":       {Kind{"example.com", "Widget"}, `{status: {conditions: [{type: Ready, status: "False", reason: SecretNotFound, lastTransitionTime: "` + at + `"}]}}`, Health{State: Degraded, Reason: "SecretNotFound", Since: began}},
		"reason is prose":    {Kind{"example.com", "Widget"}, `{status: {conditions: [{type: Ready, status: "False", reason: "Waiting for <b>you</b>"}]}}`, Health{State: Progressing, Reason: "Waiting", Untimed: true}},
		"crossplane":         {Kind{"rds.aws.upbound.io", "Instance"}, `{status: {conditions: [{type: Ready, status: "True"}, {type: Synced, status: "False", reason: ReconcileError}]}}`, Health{State: Degraded, Reason: "ReconcileError"}},
		"phase":              {Kind{"example.com", "Widget"}, `{status: {phase: Provisioning}}`, Health{State: Progressing, Reason: "Provisioning", Untimed: true}},
		"strange phase":      {Kind{"example.com", "Widget"}, `{status: {phase: Wobbly}}`, Health{State: Unknown, Reason: "Wobbly"}},
		"config error":       {Kind{"", "Pod"}, `{status: {phase: Pending, containerStatuses: [{ready: false, state: {waiting: {reason: CreateContainerConfigError}}}, {ready: true}]}}`, Health{State: Degraded, Reason: "CreateContainerConfigError", Ready: 1, Wanted: 2, Counted: true}},
		"init container":     {Kind{"", "Pod"}, `{status: {phase: Pending, initContainerStatuses: [{state: {waiting: {reason: CrashLoopBackOff}}}], containerStatuses: [{state: {waiting: {reason: PodInitializing}}}]}}`, Health{State: Degraded, Reason: "CrashLoopBackOff", Wanted: 1, Counted: true}},
		"unschedulable":      {Kind{"", "Pod"}, `{status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, lastTransitionTime: "` + at + `"}]}}`, Health{State: Progressing, Reason: "Unschedulable", Since: began, Overdue: began + 15}},
		"evicted":            {Kind{"", "Pod"}, `{status: {phase: Failed, reason: Evicted}}`, Health{State: Degraded, Reason: "Evicted", Ended: true}},
		"out of memory":      {Kind{"", "Pod"}, `{status: {phase: Running, containerStatuses: [{ready: false, lastState: {terminated: {exitCode: 137, reason: OOMKilled}}, state: {running: {}}}]}}`, Health{State: Degraded, Reason: "OOMKilled", Wanted: 1, Counted: true}},
		"node not ready":     {Kind{"", "Node"}, `{status: {conditions: [{type: Ready, status: Unknown, reason: NodeStatusUnknown}]}}`, Health{State: Degraded, Reason: "NodeStatusUnknown"}},
		"node cordoned":      {Kind{"", "Node"}, `{spec: {unschedulable: true}, status: {conditions: [{type: Ready, status: "True"}]}}`, Health{State: Suspended, Reason: "SchedulingDisabled"}},
		"namespace stuck":    {Kind{"", "Namespace"}, `{status: {phase: Active, conditions: [{type: NamespaceDeletionDiscoveryFailure, status: "True"}]}}`, Health{State: Degraded, Reason: "NamespaceDeletionDiscoveryFailure"}},
		"no load balancer":   {Kind{"networking.k8s.io", "Ingress"}, `{status: {loadBalancer: {}}}`, Health{State: Unknown, Reason: "NoAddress"}},
		"budget":             {Kind{"policy", "PodDisruptionBudget"}, `{status: {currentHealthy: 1, desiredHealthy: 2}}`, Health{State: Progressing, Reason: "InsufficientPods", Ready: 1, Wanted: 2, Counted: true, Untimed: true}},
		"old autoscaler":     {Kind{"autoscaling", "HorizontalPodAutoscaler"}, `metadata: {annotations: {autoscaling.alpha.kubernetes.io/conditions: '[{"type":"AbleToScale","status":"True","reason":"ReadyForNewScale"}]'}}`, Health{State: OK, Reason: "ReadyForNewScale"}},
		"quota":              {Kind{"apps", "ReplicaSet"}, `{spec: {replicas: 1}, status: {conditions: [{type: ReplicaFailure, status: "True", reason: FailedCreate}]}}`, Health{State: Degraded, Reason: "FailedCreate", Wanted: 1, Counted: true}},
		"after the rollout":  {Kind{"apps", "Deployment"}, `{spec: {replicas: 2}, status: {replicas: 2, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1, conditions: [{type: Progressing, status: "True", reason: NewReplicaSetAvailable}, {type: Available, status: "False", reason: MinimumReplicasUnavailable}]}}`, Health{State: Progressing, Ready: 1, Wanted: 2, Counted: true, Untimed: true}},
		"scaled to zero":     {Kind{"apps", "Deployment"}, `{spec: {replicas: 0}, status: {conditions: [{type: Available, status: "True"}]}}`, Health{State: OK, Counted: true}},
		"application":        {Kind{"argoproj.io", "Application"}, `{status: {health: {status: Missing}}}`, Health{State: Degraded, Reason: "Missing"}},
		"workflow":           {Kind{"argoproj.io", "Workflow"}, `{status: {phase: Running}}`, Health{State: Progressing, Reason: "Running"}},
		"pipeline":           {Kind{"tekton.dev", "PipelineRun"}, `{status: {conditions: [{type: Succeeded, status: Unknown, reason: Running}]}}`, Health{State: Progressing, Reason: "Running"}},
		"certificate":        {Kind{"cert-manager.io", "Certificate"}, `{status: {conditions: [{type: Ready, status: "False", reason: DoesNotExist}, {type: Issuing, status: "True", reason: DoesNotExist}]}}`, Health{State: Progressing, Reason: "DoesNotExist", Untimed: true}},
		"challenge":          {Kind{"acme.cert-manager.io", "Challenge"}, `{status: {state: invalid}}`, Health{State: Degraded, Reason: "invalid"}},
		"elastic":            {Kind{"elasticsearch.k8s.elastic.co", "Elasticsearch"}, `{status: {health: yellow, phase: Ready}}`, Health{State: Progressing, Reason: "yellow", Untimed: true}},
		"ceph":               {Kind{"ceph.rook.io", "CephCluster"}, `{status: {phase: Ready, ceph: {health: HEALTH_ERR}}}`, Health{State: Degraded, Reason: "HEALTH_ERR"}},
		"postgres":           {Kind{"postgresql.cnpg.io", "Cluster"}, `{spec: {instances: 3}, status: {readyInstances: 2, conditions: [{type: Ready, status: "False", reason: ClusterIsNotReady}]}}`, Health{State: Progressing, Reason: "ClusterIsNotReady", Ready: 2, Wanted: 3, Counted: true, Untimed: true}},
		"scaled object":      {Kind{"keda.sh", "ScaledObject"}, `{status: {conditions: [{type: Ready, status: "True"}, {type: Paused, status: "True"}]}}`, Health{State: Suspended, Reason: "Paused"}},
		"virtual machine":    {Kind{"kubevirt.io", "VirtualMachine"}, `{status: {printableStatus: ErrorUnschedulable}}`, Health{State: Degraded, Reason: "ErrorUnschedulable"}},
		"gateway":            {Kind{"gateway.networking.k8s.io", "Gateway"}, `{status: {conditions: [{type: Accepted, status: "True"}, {type: Programmed, status: "False", reason: AddressNotAssigned}]}}`, Health{State: Progressing, Reason: "AddressNotAssigned", Untimed: true}},
		"route":              {Kind{"gateway.networking.k8s.io", "HTTPRoute"}, `{status: {parents: [{conditions: [{type: Accepted, status: "True"}]}, {conditions: [{type: ResolvedRefs, status: "False", reason: BackendNotFound}]}]}}`, Health{State: Degraded, Reason: "BackendNotFound"}},
		"of other types":     {Kind{"apps", "Deployment"}, `{metadata: [], spec: 1, status: {conditions: {a: b}, replicas: {}}}`, Health{State: Progressing, Reason: "ScalingUp", Wanted: 1, Counted: true, Untimed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, judgeYAML(t, test.kind, test.object)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzOf: whatever an object is, there is an answer that keeps the promises of
// Health.
func FuzzOf(f *testing.F) {
	judged := append(slices.Collect(maps.Keys(kinds)), Kind{"example.com", "Widget"})
	f.Add(`{"status":{"conditions":[{"type":"Ready","status":"False","reason":"x"}],"phase":"Running","containerStatuses":[{"state":{"waiting":{"reason":"y"}}}]}}`)
	f.Add(`{"metadata":{"generation":1e300},"status":{"observedGeneration":-1,"health":"green","parents":[{"conditions":[{}]}]}}`)
	f.Add(`{"metadata":{"deletionTimestamp":"x","annotations":{"autoscaling.alpha.kubernetes.io/conditions":"[[]]"}}}`)
	f.Add(`{"status":{"phase":"ȺȺȺȺȺȺfailed","conditions":[{"type":"ȺȺȺȺȺȺfailed","status":"True"}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		compact := jsontext.Value(text)
		if compact.Compact(jsontext.AllowDuplicateNames(true)) != nil || compact.Kind() != '{' || new(jsontree.Parts).Read(compact, Shape) != nil {
			return
		}
		for _, kind := range judged {
			h := judge(t, kind, compact)
			if h.State == "" || h.State.Severity() < 0 || len(h.Reason) > maxReason || strings.ContainsAny(h.Reason, " <>\"'\n") {
				t.Errorf("%v: %+v", kind, h)
			}
			waits := h.State == Progressing || h.State == Terminating
			if h.Overdue != 0 && h.State != OK && (!waits || h.Overdue < h.Since || h.Untimed) || h.Untimed && h.State != Progressing {
				t.Errorf("%v: overdue %+v", kind, h)
			}
		}
	})
}

func TestSeverity(t *testing.T) {
	for i, state := range States {
		if state.Severity() != i {
			t.Errorf("%s: %d", state, state.Severity())
		}
	}
	if State("no such").Severity() != Unknown.Severity() {
		t.Error("what is no state has no opinion")
	}
}

// BenchmarkPod is what a pod that changed costs: reading the parts and judging.
func BenchmarkPod(b *testing.B) {
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "web", "labels": map[string]any{"app": "web"}, "managedFields": strings.Repeat("x", 4000)},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "env": strings.Repeat("y", 4000)}}},
		"status": map[string]any{
			"phase":             "Running",
			"conditions":        []any{map[string]any{"type": "PodScheduled", "status": "True"}, map[string]any{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-02T03:04:05Z"}},
			"containerStatuses": []any{map[string]any{"name": "c", "ready": true, "state": map[string]any{"running": map[string]any{"startedAt": "2026-01-02T03:04:05Z"}}}},
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var parts jsontree.Parts
	for b.Loop() {
		if err := parts.Read(text, Shape); err != nil {
			b.Fatal(err)
		}
		if OfParts(podKind, &parts).State != OK {
			b.Fatal("not ok")
		}
	}
}
