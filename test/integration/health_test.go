package integration

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/test/fixture"
)

// TestGraphViewHealth: a view says that what one of its objects needs is missing,
// and that one is degraded, and kubectl can wait for the end of that.
func TestGraphViewHealth(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	namespace := newNamespace(t, c)
	startEngine(t, namespace, cluster.Config(), cluster.Config())
	view := configMapsView(namespace)
	view.Spec.Queries[0].Include.ResourceSelectorExpression = "group == '' && resource in ['configmaps', 'pods', 'secrets']"
	create(t, c, view)
	source := func(name string, optional bool) corev1.EnvFromSource {
		return corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Optional: &optional}}
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"},
		Spec: corev1.PodSpec{
			AutomountServiceAccountToken: new(bool),
			Containers:                   []corev1.Container{{Name: "web", Image: "web", EnvFrom: []corev1.EnvFromSource{source("needed", false), source("optional", true)}}},
		},
	}
	create(t, c, pod)
	waitHealth(t, c, view, "MissingReferences", 1)
	createConfigMap(t, c, namespace, "needed")
	waitHealth(t, c, view, "Progressing", 0)

	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "web", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}}}
	if err := c.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	waitHealth(t, c, view, "Degraded", 0)
	if view.Status.Health.Degraded != 1 {
		t.Errorf("health %+v, want one degraded", view.Status.Health)
	}
	if err := c.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	if _, err := cluster.Kubectl(t.Context(), "wait", "--for=condition=Healthy", "gv/view", "-n", namespace, fixture.Timeout()); err != nil {
		t.Error(err)
	}
	waitHealth(t, c, view, "OK", 0)
}

// waitHealth waits until the view says that.
func waitHealth(t *testing.T, c client.Client, view *v1alpha1.GraphView, reason string, missing int64) {
	t.Helper()
	eventually(t, soon, func() string {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(view), view); err != nil {
			return err.Error()
		}
		for _, condition := range view.Status.Conditions {
			if s := view.Status; condition.Type == v1alpha1.ConditionHealthy && condition.Reason == reason && s.Missing != nil && *s.Missing == missing {
				return ""
			}
		}
		return fmt.Sprintf("status %+v, want %s and %d missing", view.Status, reason, missing)
	})
}
