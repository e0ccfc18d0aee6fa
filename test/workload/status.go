package workload

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodStatus writes the status of a random pod, since there is no kubelet.
func (w *Workload) PodStatus(ctx context.Context) error {
	pod, err := w.somePod(ctx)
	if pod == nil {
		return err
	}
	pod.Status = w.podStatus()
	if err := w.Client.Status().Update(ctx, pod); err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) && !apierrors.IsInvalid(err) {
		return fmt.Errorf("status of pod %s: %w", pod.Name, err)
	}
	return nil
}

func (w *Workload) podStatus() corev1.PodStatus {
	container := corev1.ContainerStatus{Name: "main", Image: "example.com/main"}
	at := metav1.NewTime(time.Now().Add(-time.Duration(w.Random.IntN(3)) * 7 * time.Minute))
	conditions := func(kind corev1.PodConditionType, status corev1.ConditionStatus, reason string) []corev1.PodCondition {
		return []corev1.PodCondition{{Type: kind, Status: status, Reason: reason, LastTransitionTime: at}}
	}
	waits := func(reason string) {
		container.State.Waiting = &corev1.ContainerStateWaiting{Reason: reason}
	}
	ended := func(reason string) *corev1.ContainerStateTerminated {
		return &corev1.ContainerStateTerminated{Reason: reason, ExitCode: int32(1 + w.Random.IntN(3))}
	}
	status := corev1.PodStatus{Phase: corev1.PodRunning}
	switch w.Random.IntN(9) {
	case 0, 1:
		container.Ready, status.Conditions = true, conditions(corev1.PodReady, corev1.ConditionTrue, "")
	case 2:
		waits("CrashLoopBackOff")
		status.Conditions = conditions(corev1.PodReady, corev1.ConditionFalse, "ContainersNotReady")
	case 3:
		container.LastTerminationState.Terminated = ended("OOMKilled")
		status.Conditions = conditions(corev1.PodReady, corev1.ConditionFalse, "ContainersNotReady")
	case 4:
		status.Conditions = conditions(corev1.PodReady, corev1.ConditionFalse, "ContainersNotReady")
	case 5:
		status.Phase = corev1.PodPending
		waits([]string{"ImagePullBackOff", "ContainerCreating"}[w.Random.IntN(2)])
		status.Conditions = conditions(corev1.PodScheduled, corev1.ConditionTrue, "")
	case 6:
		return corev1.PodStatus{Phase: corev1.PodPending, Conditions: conditions(corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonUnschedulable)}
	case 7:
		status.Phase = corev1.PodFailed
		container.State.Terminated = ended("Error")
	default:
		status.Phase = corev1.PodSucceeded
	}
	status.ContainerStatuses = []corev1.ContainerStatus{container}
	return status
}
