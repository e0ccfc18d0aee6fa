package plugin

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"graphview.dev/client"
	"graphview.dev/test/fixture"
)

// TestTroubled: Troubled returns a part with the same problems as the whole graph, now and later, for a
// user that may list everything and for a user that may not list pods. The objects are random.
func TestTroubled(t *testing.T) {
	api, err := kubernetes.NewForConfig(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	fixture.Apply(t, cluster, troubledViewer)
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			where := fmt.Sprint("troubled-", seed)
			fixture.Apply(t, cluster, randomApplications(where, rand.New(rand.NewPCG(seed, 16))))
			t.Cleanup(func() { fixture.KubectlAfter(t, cluster, "delete", "namespace", where, where+"-b", "--wait=false") })
			setStatus(t, api, where, rand.New(rand.NewPCG(seed, 61)))
			fixture.Kubectl(t, cluster, "-n", where, "wait", "--for=condition=Ready", "graphview/all", fixture.Timeout())
			for _, user := range []string{"admin", "troubled-viewer"} {
				sameProblems(t, user, where)
			}
		})
	}
}

// troubledViewer has the rights of a user that may list everything that the applications have, but for pods.
const troubledViewer = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: troubled-viewer}
rules:
- {apiGroups: [graphview.dev, stream.graphview.dev], resources: ["*"], verbs: [get, list, watch]}
- {apiGroups: ["", apps, policy, autoscaling, networking.k8s.io], resources: [services, configmaps, deployments, replicasets, poddisruptionbudgets, horizontalpodautoscalers, networkpolicies, serviceaccounts], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: troubled-viewer}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: troubled-viewer}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: troubled-viewer}]
`

// sameProblems compares the problems of both answers at three times. A graph may change between the answers.
func sameProblems(t *testing.T, user, where string) {
	t.Helper()
	config := cluster.Config()
	if user != "admin" {
		config = cluster.ClientConfig(user, "system:authenticated")
	}
	reader, err := client.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.CloseIdleConnections)
	found := 0
	eventually(t, func() string {
		whole, err := reader.Summaries(t.Context(), where, "all")
		if err != nil {
			return err.Error()
		}
		part, passed, err := reader.Troubled(t.Context(), where, "all")
		if err != nil {
			return err.Error()
		}
		if passed == 0 {
			return fmt.Sprintf("nothing is passed over of %d objects", len(whole.Vertices))
		}
		diff := cmp.Diff(whole.Warnings(), part.Warnings())
		for _, later := range []time.Duration{0, 11 * time.Minute, 400 * 24 * time.Hour} {
			want, got := whole.Problems(time.Now().Add(later)), part.Problems(time.Now().Add(later))
			found = max(found, len(want))
			diff += cmp.Diff(want, got, cmpopts.EquateEmpty())
		}
		if diff != "" {
			return fmt.Sprintf("%s sees (-whole +part):\n%s", user, diff)
		}
		return ""
	})
	if found < 5 {
		t.Errorf("%s: only %d problems", user, found)
	}
}

// randomApplications are objects. Some refer to absent ones, select nothing, or will not become ready. A second
// namespace is healthy.
func randomApplications(where string, r *rand.Rand) string {
	var text strings.Builder
	fmt.Fprintf(&text, `
apiVersion: v1
kind: Namespace
metadata: {name: %[1]s}
---
apiVersion: v1
kind: Namespace
metadata: {name: %[1]s-b}
---
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: all, namespace: %[1]s}
spec:
  namespaces: {names: [%[1]s, %[1]s-b]}
  queries: [{include: {resourceSelectorExpression: "!(resource in ['events', 'leases', 'endpointslices', 'endpoints'])"}}]
`, where)
	for i := range 12 {
		app, in := fmt.Sprint("app-", i), where
		if i >= 9 {
			in = where + "-b"
		}
		healthy, replicas := i >= 9, r.IntN(3)
		if healthy {
			replicas = 2
		}
		other := func(right, wrong string) string {
			if healthy || r.IntN(3) > 0 {
				return right
			}
			return wrong
		}
		fmt.Fprintf(&text, `
---
apiVersion: v1
kind: ConfigMap
metadata: {name: %[1]s, namespace: %[2]s}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: %[2]s}
spec:
  replicas: %[3]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      containers:
      - name: main
        image: example.com/main:1
        envFrom: [{configMapRef: {name: %[4]s}}, {secretRef: {name: %[1]s-extra, optional: %[5]v}}]
---
apiVersion: v1
kind: Service
metadata: {name: %[1]s, namespace: %[2]s}
spec: {selector: {app: %[6]s}, ports: [{port: 80}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: %[1]s, namespace: %[2]s}
spec: {minAvailable: 1, selector: {matchLabels: {app: %[7]s}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: %[1]s, namespace: %[2]s}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: %[8]s}, maxReplicas: 3}
`, app, in, replicas, other(app, app+"-gone"), other("true", "false"), other(app, app+"-none"), other(app, app+"-none"), other(app, app+"-gone"))
	}
	return text.String()
}

// setStatus does the work of a kubelet: some pods run, some crash, some have ended, some do not begin.
func setStatus(t *testing.T, api *kubernetes.Clientset, where string, r *rand.Rand) {
	t.Helper()
	fixture.Eventually(t, within, time.Second, func() string {
		deployments, err := api.AppsV1().Deployments("").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		for i := range deployments.Items {
			if d := &deployments.Items[i]; strings.HasPrefix(d.Namespace, where) && d.Status.Replicas != *d.Spec.Replicas {
				return d.Name + " has no pods yet"
			}
		}
		return ""
	})
	for _, in := range []string{where, where + "-b"} {
		pods, err := api.CoreV1().Pods(in).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range pods.Items {
			pod := &pods.Items[i]
			pod.Status.Phase = corev1.PodRunning
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			container := corev1.ContainerStatus{Name: "main", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
			switch chance := r.IntN(6); {
			case in != where:
			case chance == 0:
				container.Ready, container.State = false, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
				pod.Status.Conditions[0].Status = corev1.ConditionFalse
			case chance == 1:
				pod.Status.Phase = corev1.PodFailed
			case chance == 2:
				continue
			}
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{container}
			if _, err := api.CoreV1().Pods(in).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
				t.Logf("%s: %v", pod.Name, err) // its controller has replaced it
			}
		}
	}
}
