package health

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// judged is what the objects of other projects say, in the words of their
// documentation and API types, and what their users expect of that.
var judged = []struct {
	project, group, kind, says, object string
	want                               State
	reason                             string
}{
	{"cert-manager", "cert-manager.io", "Certificate", "Ready", `{type: Ready, status: "True", reason: Ready}`, OK, "Ready"},
	{"cert-manager", "cert-manager.io", "Certificate", "not issued yet", `[{type: Ready, status: "False", reason: DoesNotExist}, {type: Issuing, status: "True", reason: DoesNotExist}]`, Progressing, "DoesNotExist"},
	{"cert-manager", "cert-manager.io", "Issuer", "account not registered", `{type: Ready, status: "False", reason: ErrRegisterACMEAccount}`, Degraded, "ErrRegisterACMEAccount"},
	{"Flux", "kustomize.toolkit.fluxcd.io", "Kustomization", "health check failed", `{type: Ready, status: "False", reason: HealthCheckFailed}`, Degraded, "HealthCheckFailed"},
	{"Flux", "kustomize.toolkit.fluxcd.io", "Kustomization", "waits for another", `{type: Ready, status: "False", reason: DependencyNotReady}`, Progressing, "DependencyNotReady"},
	{"Flux", "helm.toolkit.fluxcd.io", "HelmRelease", "install failed", `[{type: Ready, status: "False", reason: InstallFailed}, {type: Released, status: "False", reason: InstallFailed}]`, Degraded, "InstallFailed"},
	{"Flux", "source.toolkit.fluxcd.io", "GitRepository", "fetching", `[{type: Reconciling, status: "True", reason: Progressing}, {type: Ready, status: Unknown, reason: Progressing}]`, Progressing, "Progressing"},
	{"Flux", "source.toolkit.fluxcd.io", "GitRepository", "cannot fetch", `{type: Ready, status: "False", reason: GitOperationFailed}`, Degraded, "GitOperationFailed"},
	{"Argo CD", "argoproj.io", "ApplicationSet", "an error", `[{type: ErrorOccurred, status: "True", reason: ApplicationParamsGenerationError}]`, Degraded, "ApplicationParamsGenerationError"},
	{"Argo Rollouts", "argoproj.io", "Rollout", "paused", `phase: Paused`, Suspended, "Paused"},
	{"External Secrets", "external-secrets.io", "ExternalSecret", "cannot sync", `{type: Ready, status: "False", reason: SecretSyncedError}`, Degraded, "SecretSyncedError"},
	{"Crossplane", "s3.aws.upbound.io", "Bucket", "creating", `[{type: Synced, status: "True", reason: ReconcileSuccess}, {type: Ready, status: "False", reason: Creating}]`, Progressing, "Creating"},
	{"Crossplane", "s3.aws.upbound.io", "Bucket", "a change fails", `[{type: Synced, status: "False", reason: ReconcileError}, {type: Ready, status: "True", reason: Available}]`, Degraded, "ReconcileError"},
	{"Knative", "serving.knative.dev", "Service", "revision fails", `{type: Ready, status: "False", reason: RevisionFailed}`, Degraded, "RevisionFailed"},
	{"Knative", "serving.knative.dev", "Service", "deploying", `{type: Ready, status: Unknown, reason: RevisionMissing}`, Progressing, "RevisionMissing"},
	{"Strimzi", "kafka.strimzi.io", "Kafka", "creating", `{type: NotReady, status: "True", reason: Creating}`, Progressing, "Creating"},
	{"Strimzi", "kafka.strimzi.io", "KafkaTopic", "refused", `{type: NotReady, status: "True", reason: InvalidResourceException}`, Degraded, "InvalidResourceException"},
	{"Strimzi", "kafka.strimzi.io", "Kafka", "reconciliation paused", `[{type: ReconciliationPaused, status: "True"}]`, Suspended, "ReconciliationPaused"},
	{"CloudNativePG", "postgresql.cnpg.io", "Cluster", "Ready", `{type: Ready, status: "True", reason: ClusterIsReady}`, OK, "ClusterIsReady"},
	{"KEDA", "keda.sh", "ScaledObject", "paused", `[{type: Ready, status: "True"}, {type: Paused, status: "True", reason: ScaledObjectPaused}]`, Suspended, "ScaledObjectPaused"},
	{"KEDA", "keda.sh", "ScaledObject", "fallback", `[{type: Ready, status: "True"}, {type: Fallback, status: "True", reason: FallbackExists}]`, Degraded, "FallbackExists"},
	{"Cluster API", "cluster.x-k8s.io", "Cluster", "provisioned", `phase: Provisioned`, OK, "Provisioned"},
	{"Cluster API", "cluster.x-k8s.io", "MachineDeployment", "scaling", `{type: Ready, status: "False", reason: ScalingUp}`, Progressing, "ScalingUp"},
	{"Istio", "networking.istio.io", "VirtualService", "nothing", `observedGeneration: 1`, Unknown, ""},
	{"Gateway API", "gateway.networking.k8s.io", "Gateway", "no address yet", `[{type: Accepted, status: "True"}, {type: Programmed, status: "False", reason: AddressNotAssigned}]`, Progressing, "AddressNotAssigned"},
	{"Tekton", "tekton.dev", "PipelineRun", "running", `{type: Succeeded, status: Unknown, reason: Running}`, Progressing, "Running"},
	{"Tekton", "tekton.dev", "PipelineRun", "out of time", `{type: Succeeded, status: "False", reason: PipelineRunTimeout}`, Degraded, "PipelineRunTimeout"},
	{"Velero", "velero.io", "Backup", "waits for plugins", `phase: WaitingForPluginOperations`, Progressing, "WaitingForPluginOperations"},
	{"Velero", "velero.io", "Backup", "some of it failed", `phase: PartiallyFailed`, Degraded, "PartiallyFailed"},
	{"Velero", "velero.io", "BackupStorageLocation", "out of reach", `phase: Unavailable`, Degraded, "Unavailable"},
	{"Prometheus operator", "monitoring.coreos.com", "Prometheus", "some pods are not ready", `{type: Available, status: Degraded, reason: SomePodsNotReady}`, Degraded, "SomePodsNotReady"},
	{"Elastic", "elasticsearch.k8s.elastic.co", "Elasticsearch", "red", `{health: red, phase: Ready}`, Degraded, "red"},
	{"Elastic", "beat.k8s.elastic.co", "Beat", "green", `health: green`, OK, "green"},
	{"Longhorn", "longhorn.io", "Volume", "degraded", `{robustness: degraded, state: attached}`, Degraded, "degraded"},
	{"Sealed Secrets", "bitnami.com", "SealedSecret", "cannot unseal", `{type: Synced, status: "False"}`, Degraded, "NotSynced"},
	{"Kyverno", "kyverno.io", "ClusterPolicy", "Ready", `{type: Ready, status: "True", reason: Succeeded}`, OK, "Succeeded"},
	{"Zalando", "acid.zalan.do", "postgresql", "creating", `PostgresClusterStatus: Creating`, Progressing, "Creating"},
	{"Zalando", "acid.zalan.do", "postgresql", "an update failed", `PostgresClusterStatus: UpdateFailed`, Degraded, "UpdateFailed"},
	{"Rook", "ceph.rook.io", "CephCluster", "warns", `{ceph: {health: HEALTH_WARN}, phase: Ready}`, Degraded, "HEALTH_WARN"},
	{"KubeVirt", "kubevirt.io", "VirtualMachine", "stopped", `printableStatus: Stopped`, Suspended, "Stopped"},
}

// TestProjects: the objects of other projects are judged as their users expect, and
// docs/measured/health.md says the same.
func TestProjects(t *testing.T) {
	page, err := os.ReadFile("../../docs/measured/health.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := strings.Split(string(page), "\n")
	for _, j := range judged {
		object := "status: {" + j.object + "}"
		switch {
		case strings.HasPrefix(j.object, "["):
			object = "status: {conditions: " + j.object + "}"
		case strings.HasPrefix(j.object, "{type:"):
			object = "status: {conditions: [" + j.object + "]}"
		case strings.HasPrefix(j.object, "{"):
			object = "status: " + j.object
		}
		h := judgeYAML(t, Kind{j.group, j.kind}, object)
		if h.State != j.want || h.Reason != j.reason {
			t.Errorf("%s %s, %s: %s (%s), want %s (%s)", j.project, j.kind, j.says, h.State, h.Reason, j.want, j.reason)
		}
		why := j.reason
		if why != "" {
			why = " (" + why + ")"
		}
		row := "| " + j.project + " | " + j.kind + " | " + j.says + " | " + string(j.want) + why + " |"
		if !slices.Contains(documented, row) {
			t.Errorf("docs/measured/health.md lacks the row\n%s", row)
		}
	}
}

// TestWords: docs/health.md lists the words that this package knows.
func TestWords(t *testing.T) {
	text, err := os.ReadFile("../../docs/health.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.ReplaceAll(string(text), "\n", " ")
	for _, state := range States {
		listed := slices.DeleteFunc(slices.Sorted(maps.Keys(phases)), func(word string) bool { return phases[word] != state })
		if row := "| `" + string(state) + "` | " + strings.Join(listed, ", ") + " |"; !strings.Contains(page, row) {
			t.Errorf("docs/health.md lacks the row\n%s", row)
		}
	}
	if parts := strings.Join(slices.Sorted(slices.Values(failureParts)), ", "); !strings.Contains(page, parts) {
		t.Errorf("docs/health.md lacks the words for a failure\n%s", parts)
	}
	for done := range ended {
		if !strings.Contains(page, done) {
			t.Errorf("docs/health.md lacks the word %s", done)
		}
	}
}
