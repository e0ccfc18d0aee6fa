package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"graphview.dev/test/env"
)

// nodeName is the node of the sample's pods. No kubelet runs there.
const nodeName = "sample"

// pods stands in for the scheduler and the kubelet of the sample's pods, which the control plane lacks:
// the sample is healthy where nothing is missing, and broken where something is.
type pods struct {
	client *kubernetes.Clientset
	// started counts the pods that run, for their addresses.
	started int
}

// newPods also makes the node, and the volumes that the sample claims, in place of a provisioner.
func newPods(ctx context.Context, plane *env.ControlPlane) (*pods, error) {
	client, err := kubernetes.NewForConfig(plane.Config())
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"sample-1", "sample-2"} {
		volume := &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.PersistentVolumeSpec{
				Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
				AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/" + name}},
			},
		}
		if _, err := client.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{}); err != nil {
			return nil, err
		}
	}
	node, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastTransitionTime: metav1.Now()}}
	if _, err := client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{}); err != nil {
		return nil, err
	}
	return &pods{client: client}, nil
}

// run writes statuses until ctx is done.
func (p *pods) run(ctx context.Context) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
		if err := p.write(ctx); err != nil {
			return err
		}
	}
}

// write takes each pod a step further: to the node, to its status, or away. A status that a user has written, as
// docs/walkthrough.md says, stays.
func (p *pods) write(ctx context.Context) error {
	core := p.client.CoreV1()
	configMaps, err := core.ConfigMaps(sampleNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	listed, err := core.Pods(sampleNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range listed.Items {
		err := p.step(ctx, &listed.Items[i], configMaps.Items)
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return err
		}
	}
	return nil
}

// step takes one pod a step further.
func (p *pods) step(ctx context.Context, pod *corev1.Pod, configMaps []corev1.ConfigMap) error {
	all := p.client.CoreV1().Pods(sampleNamespace)
	missing := missingConfigMap(pod, configMaps)
	switch {
	case pod.DeletionTimestamp != nil:
		return all.Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
	case pod.Spec.NodeName == "":
		return all.Bind(ctx, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: pod.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: nodeName}}, metav1.CreateOptions{})
	case pod.Status.Phase != corev1.PodPending:
		return nil
	case missing == "" && (waitsForConfig(pod) || isNew(pod)):
		p.started++
		pod.Status = running(pod, p.started)
	case missing != "" && isNew(pod):
		pod.Status.ContainerStatuses = waiting(pod, missing)
	default:
		return nil
	}
	_, err := all.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err
}

// configError is the kubelet's reason for a container whose environment cannot be read.
const configError = "CreateContainerConfigError"

// isNew reports whether a pod has no status but that it is scheduled.
func isNew(pod *corev1.Pod) bool {
	return len(pod.Status.ContainerStatuses) == 0 && !slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Status != corev1.ConditionTrue })
}

// waitsForConfig reports whether a container of a pod waits for its environment.
func waitsForConfig(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.State.Waiting != nil && s.State.Waiting.Reason == configError
	})
}

// missingConfigMap returns the name of a ConfigMap that the environment of a pod needs and that does not exist, or "".
func missingConfigMap(pod *corev1.Pod, there []corev1.ConfigMap) string {
	for i := range pod.Spec.Containers {
		for _, from := range pod.Spec.Containers[i].EnvFrom {
			if from.ConfigMapRef == nil {
				continue
			}
			name := from.ConfigMapRef.Name
			if !slices.ContainsFunc(there, func(c corev1.ConfigMap) bool { return c.Name == name }) {
				return name
			}
		}
	}
	return ""
}

// waiting returns the statuses of containers that cannot start without a ConfigMap.
func waiting(pod *corev1.Pod, configMap string) (all []corev1.ContainerStatus) {
	for i := range pod.Spec.Containers {
		container := &pod.Spec.Containers[i]
		all = append(all, corev1.ContainerStatus{Name: container.Name, Image: container.Image, State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: configError, Message: fmt.Sprintf("configmap %q not found", configMap)},
		}})
	}
	return all
}

// running returns the status of a pod that is ready. Its number makes its address.
func running(pod *corev1.Pod, number int) corev1.PodStatus {
	now, started := metav1.Now(), true
	address := fmt.Sprintf("10.244.%d.%d", number/250%250, 1+number%250)
	status := corev1.PodStatus{
		Phase: corev1.PodRunning, QOSClass: pod.Status.QOSClass, StartTime: &now,
		PodIP: address, PodIPs: []corev1.PodIP{{IP: address}},
	}
	for _, condition := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	for i := range pod.Spec.Containers {
		container := &pod.Spec.Containers[i]
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, Ready: true, Started: &started,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		})
	}
	return status
}
