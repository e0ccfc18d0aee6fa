package fresh

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"graphview.dev/client"
	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
)

const within = 2 * time.Minute

// TestFresh: a healthy cluster has no problem, at once and when it is older than ten minutes.
func TestFresh(t *testing.T) {
	c, err := kubernetes.NewForConfig(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	node := newNode(t, c)
	fixture.Apply(t, cluster, `
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: everything, namespace: default}
spec: {queries: [{include: {resourceSelectorExpression: "resource != 'events'"}}]}
`)
	for _, kind := range []string{"k3s-kinds", "cloud-kinds"} {
		file := filepath.Join("testdata", kind+".yaml")
		fixture.Kubectl(t, cluster, "apply", "-f", file)
		fixture.Kubectl(t, cluster, "wait", "--for=condition=Established", fixture.Timeout(), "-f", file)
	}
	for _, tt := range []struct {
		name  string
		files []string
	}{
		{"control plane", nil},
		{"kubeadm", []string{"dns", "kubeadm", "metrics-server"}},
		{"kind", []string{"dns", "kubeadm", "kind", "local-path"}},
		{"k3s", []string{"dns", "k3s", "local-path", "metrics-server"}},
		{"managed", []string{"dns", "cloud", "metrics-server"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range tt.files {
				text, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
				if err != nil {
					t.Fatal(err)
				}
				manifest := strings.ReplaceAll(string(text), "NODE-UID", string(node.UID))
				fixture.Apply(t, cluster, manifest)
				defer fixture.Kubectl(t, cluster, "delete", "--wait=false", "-f", fixture.Manifest(t, manifest))
			}
			fixture.Eventually(t, within, time.Second, func() string {
				if err := runPods(t.Context(), c); err != nil {
					return err.Error() // the cluster's controllers write too
				}
				if out, code := problems(t, "--local"); code != 0 || !strings.HasPrefix(out, "No problems in 1 graph.\n") {
					return out
				}
				if out, code := problems(t); code != 0 || !strings.HasPrefix(out, "No problems in 1 graph.\n") {
					return out
				}
				return laterProblems(t)
			})
		})
		// Their kubelet would do so.
		fixture.Kubectl(t, cluster, "delete", "pods", "--all", "--all-namespaces", "--force", "--grace-period=0")
		fixture.Kubectl(t, cluster, "wait", "--for=delete", "namespace/local-path-storage", fixture.Timeout())
	}
}

// problems returns the answer of a person's first command.
func problems(t *testing.T, flags ...string) (out string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.For(within))
	defer cancel()
	command := exec.CommandContext(ctx, cluster.KubectlPath(), append([]string{"graphview", "problems", "-A"}, flags...)...)
	command.Env = fixture.Shell(t, cluster, cluster.Config(), folder)
	out, stderr, code := fixture.Run(t, command)
	return out + stderr, code
}

// laterProblems returns the problems of the cluster as it is now, after ten minutes.
func laterProblems(t *testing.T) string {
	t.Helper()
	viewer, err := client.New(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	g, err := viewer.Summaries(t.Context(), "default", "everything")
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, p := range g.Problems(time.Now().Add(11 * time.Minute)) {
		all = append(all, fmt.Sprintf("later: %s %s %s", p.Object, p.Health, p.Why))
	}
	return strings.Join(all, "\n")
}

// newNode makes the one node, which is ready.
func newNode(t *testing.T, c *kubernetes.Clientset) *corev1.Node {
	t.Helper()
	node, err := c.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: "node", Labels: map[string]string{"kubernetes.io/os": "linux", "kubernetes.io/hostname": "node"},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ready := `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady"}]}}`
	node, err = c.CoreV1().Nodes().Patch(t.Context(), node.Name, types.StrategicMergePatchType, []byte(ready), metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
	}
	return node
}

// runPods does the work of the scheduler, the kubelet and the load balancer: pods run on the node, those of Jobs end well.
func runPods(ctx context.Context, c *kubernetes.Clientset) error {
	pods, err := c.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.DeletionTimestamp != nil {
			// One that a controller made and deletes again is gone as soon as the kubelet says so.
			now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
			if err := c.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, now); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
			continue
		}
		if pod.Status.Phase != corev1.PodPending {
			continue
		}
		if pod.Spec.NodeName == "" {
			binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: pod.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: "node"}}
			if err := c.CoreV1().Pods(pod.Namespace).Bind(ctx, binding, metav1.CreateOptions{}); err != nil {
				return err
			}
			if pod, err = c.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{}); err != nil {
				return err
			}
		}
		ended, now := pod.Spec.RestartPolicy != corev1.RestartPolicyAlways, metav1.Now()
		status := corev1.ContainerStatus{Ready: !ended, Started: new(bool)}
		*status.Started = !ended
		pod.Status.Phase, pod.Status.PodIPs, pod.Status.PodIP = corev1.PodRunning, []corev1.PodIP{{IP: "10.0.0.1"}}, "10.0.0.1"
		status.State.Running = &corev1.ContainerStateRunning{StartedAt: now}
		if ended {
			pod.Status.Phase = corev1.PodSucceeded
			status.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}}
		}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: now}}
		if !ended {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now})
		}
		pod.Status.ContainerStatuses = nil
		for _, container := range pod.Spec.Containers {
			status.Name, status.Image = container.Name, container.Image
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, status)
		}
		if _, err := c.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	services, err := c.CoreV1().Services("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range services.Items {
		s := &services.Items[i]
		if s.Spec.Type != corev1.ServiceTypeLoadBalancer || len(s.Status.LoadBalancer.Ingress) > 0 {
			continue
		}
		s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "10.0.0.2"}}
		if _, err := c.CoreV1().Services(s.Namespace).UpdateStatus(ctx, s, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}
