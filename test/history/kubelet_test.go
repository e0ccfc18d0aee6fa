package history

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"graphview.dev/test/fixture"
)

// kubelet stands in for the kubelet of the pods of a namespace, and for the authors of events.
type kubelet struct {
	*testing.T

	namespace string
}

// podsState is a state of pods.
type podsState struct {
	// New reports whether only pods count that are new.
	New             bool
	Reason, Message string
	Unschedulable   bool
	NotReady        bool
}

// event is an event of the kubelet, the scheduler or an operator. Kind and name default to the first pod that
// the state is of.
type event struct{ Kind, Name, Reason, Message string }

// kubectl runs a command in the namespace.
func (k kubelet) kubectl(args ...string) string {
	k.Helper()
	return fixture.Kubectl(k.T, cluster, append([]string{"-n", k.namespace}, args...)...)
}

// pods returns the names of the pods of the application that are not being deleted.
func (k kubelet) pods() []string {
	k.Helper()
	all, err := k.api().CoreV1().Pods(k.namespace).List(k.Context(), metav1.ListOptions{LabelSelector: "app=web"})
	if err != nil {
		k.Fatal(err)
	}
	var names []string
	for i := range all.Items {
		if pod := &all.Items[i]; pod.DeletionTimestamp.IsZero() {
			names = append(names, pod.Name)
		}
	}
	return names
}

// api returns a client of the controllers and kubelets of a cluster: people have kubectl.
func (k kubelet) api() *kubernetes.Clientset {
	k.Helper()
	c, err := kubernetes.NewForConfig(cluster.Config())
	if err != nil {
		k.Fatal(err)
	}
	return c
}

// setStatus sets fields of the status of a node or a pod.
func (k kubelet) setStatus(kind, name string, status map[string]any) {
	k.Helper()
	text, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		k.Fatal(err)
	}
	if kind == "node" {
		_, err = k.api().CoreV1().Nodes().Patch(k.Context(), name, types.MergePatchType, text, metav1.PatchOptions{}, "status")
	} else {
		_, err = k.api().CoreV1().Pods(k.namespace).Patch(k.Context(), name, types.MergePatchType, text, metav1.PatchOptions{}, "status")
	}
	if err != nil {
		k.Fatal(err)
	}
}

func condition(kind, status, reason string) map[string]any {
	return map[string]any{"type": kind, "status": status, "reason": reason, "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}
}

// start lets pods run.
func (k kubelet) start(pods []string) {
	k.Helper()
	for _, pod := range pods {
		k.setStatus("pod", pod, map[string]any{
			"phase": "Running", "conditions": []any{condition("Ready", "True", ""), condition("ContainersReady", "True", "")},
			"containerStatuses": []any{map[string]any{
				"name": "web", "ready": true, "started": true, "image": "example.com/web", "imageID": "web", "restartCount": 0,
				"state": map[string]any{"running": map[string]any{}},
			}},
		})
	}
}

// stop sets the state of pods.
func (k kubelet) stop(pods []string, state podsState) {
	k.Helper()
	for _, pod := range pods {
		status := map[string]any{"phase": "Running", "conditions": []any{condition("Ready", "False", "ContainersNotReady")}}
		switch {
		case state.Unschedulable:
			unscheduled := condition("PodScheduled", "False", "Unschedulable")
			unscheduled["message"] = state.Message
			status = map[string]any{"phase": "Pending", "conditions": []any{unscheduled}}
		case state.Reason != "":
			status["containerStatuses"] = []any{map[string]any{
				"name": "web", "ready": false, "started": false, "image": "example.com/web", "imageID": "", "restartCount": 0,
				"state": map[string]any{"waiting": map[string]any{"reason": state.Reason, "message": state.Message}},
			}}
		}
		k.setStatus("pod", pod, status)
	}
}

// record writes an event.
func (k kubelet) record(e event) {
	k.Helper()
	now := time.Now().UTC().Format(time.RFC3339)
	version := map[string]string{"Pod": "v1", "Certificate": "cert-manager.io/v1"}[e.Kind]
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": e.Reason, "message": strings.ReplaceAll(e.Message, "NAMESPACE", k.namespace),
		"metadata":       map[string]any{"name": fmt.Sprintf("%s.%d", e.Name, time.Now().UnixNano()), "namespace": k.namespace},
		"involvedObject": map[string]any{"apiVersion": version, "kind": e.Kind, "namespace": k.namespace, "name": e.Name},
		"firstTimestamp": now, "lastTimestamp": now, "count": 1, "source": map[string]any{"component": "kubelet"},
	})
	if err != nil {
		k.Fatal(err)
	}
	fixture.Apply(k.T, cluster, string(text))
}

// without returns the names that are not among others.
func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}
