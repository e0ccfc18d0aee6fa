package main

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// pod makes the i-th pod of the application's ReplicaSet, bound to a node.
func (a *application) pod(i int) *corev1.Pod {
	replicaSet := a.name + "-" + a.hash
	spec := a.podSpec()
	spec.NodeName = a.shape.node(a.firstPod + i)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: a.namespace, Name: replicaSet + "-" + a.word(5), GenerateName: replicaSet + "-",
			Labels:          a.hashed(a.labels),
			Annotations:     map[string]string{"checksum/config": a.hex(64), "prometheus.io/scrape": "true"},
			OwnerReferences: []metav1.OwnerReference{owner("ReplicaSet", replicaSet, a.replicaSetUID)},
		},
		Spec: spec,
	}
}

// podSpec is the same for all pods of an application.
func (a *application) podSpec() corev1.PodSpec {
	return corev1.PodSpec{
		ServiceAccountName: a.name,
		Containers:         []corev1.Container{a.server(), a.sidecar()},
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: a.name}}}},
			{Name: "credentials", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: a.name}}},
		},
	}
}

func (a *application) server() corev1.Container {
	probe := &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromString("http")}},
		PeriodSeconds: 10, TimeoutSeconds: 2,
	}
	env := []corev1.EnvVar{
		{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
		{Name: "PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: a.name}, Key: "password",
		}}},
	}
	for i := range 3 {
		env = append(env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", i), Value: fmt.Sprintf("https://%s.%s.svc/%d", a.name, a.namespace, i)})
	}
	return corev1.Container{
		Name: "server", Image: "registry.example.com/team/" + a.name + ":" + a.labels["app.kubernetes.io/version"],
		Args:  []string{"--config=/etc/config/setting-00"},
		Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
		Env:   env, ReadinessProbe: probe, Resources: resources("100m", "256Mi"),
		VolumeMounts: []corev1.VolumeMount{
			{Name: "config", MountPath: "/etc/config"}, {Name: "credentials", MountPath: "/etc/credentials"},
		},
	}
}

func (a *application) sidecar() corev1.Container {
	return corev1.Container{
		Name: "proxy", Image: "registry.example.com/mesh/proxy:2.7.1", Resources: resources("10m", "64Mi"),
	}
}

func resources(cpu, memory string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)},
	}
}

// start gives a pod the status that a kubelet would, once it runs.
func (a *application) start(pod *corev1.Pod) {
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	address := fmt.Sprintf("10.%d.%d.%d", 1+a.random.IntN(250), a.random.IntN(250), 1+a.random.IntN(250))
	pod.Status.Phase, pod.Status.StartTime = corev1.PodRunning, &now
	pod.Status.HostIP, pod.Status.HostIPs = "192.168.0.1", []corev1.HostIP{{IP: "192.168.0.1"}}
	pod.Status.PodIP, pod.Status.PodIPs = address, []corev1.PodIP{{IP: address}}
	for _, kind := range []corev1.PodConditionType{
		corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled,
	} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	for i := range pod.Spec.Containers {
		container, started := &pod.Spec.Containers[i], true
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, ImageID: container.Image + "@sha256:" + a.hex(64),
			ContainerID: "containerd://" + a.hex(64), Ready: true, Started: &started,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		})
	}
}
