package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// application makes the objects of one application, as controllers would. What
// differs between applications and pods in a cluster differs here: names,
// hashes and addresses do not compress.
type application struct {
	namespace, name string
	hash            string // of the pod template
	pods            int
	firstPod        int // of all pods
	shape           shape
	random          *rand.Rand
	labels          map[string]string

	deploymentUID, replicaSetUID types.UID
}

func newApplication(s shape, i int) *application {
	random := rand.New(rand.NewPCG(1, uint64(i)))
	a := &application{
		namespace: s.namespace(i / s.applications), name: fmt.Sprintf("app-%03d", i%s.applications),
		pods: s.pods, firstPod: i * s.pods, shape: s, random: random,
	}
	a.hash = a.word(10)
	a.labels = map[string]string{
		"app.kubernetes.io/name": a.name, "app.kubernetes.io/instance": a.name + "-" + a.namespace,
		"app.kubernetes.io/part-of": "bench", "app.kubernetes.io/version": fmt.Sprintf("1.%d.%d", i%17, i%7),
	}
	return a
}

// word makes a random word as they end the names of pods.
func (a *application) word(length int) string { return a.draw("bcdfghjklmnpqrstvwxz2456789", length) }

func (a *application) hex(length int) string { return a.draw("0123456789abcdef", length) }

func (a *application) draw(letters string, length int) string {
	var word strings.Builder
	for range length {
		word.WriteByte(letters[a.random.IntN(len(letters))])
	}
	return word.String()
}

func (a *application) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: a.namespace, Name: a.name, Labels: maps.Clone(a.labels)}
}

func (a *application) selector() map[string]string {
	return map[string]string{"app.kubernetes.io/name": a.name, "app.kubernetes.io/instance": a.labels["app.kubernetes.io/instance"]}
}

// hashed adds the label by which a ReplicaSet knows its pods.
func (a *application) hashed(labels map[string]string) map[string]string {
	labels = maps.Clone(labels)
	labels["pod-template-hash"] = a.hash
	return labels
}

func (a *application) serviceAccount() *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: a.meta()}
}

func (a *application) configMap() *corev1.ConfigMap {
	settings := map[string]string{}
	for i := range 20 {
		settings[fmt.Sprintf("setting-%02d", i)] = "value of " + a.hex(24)
	}
	return &corev1.ConfigMap{ObjectMeta: a.meta(), Data: settings}
}

func (a *application) secret() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: a.meta(), StringData: map[string]string{"password": a.hex(32), "token": a.hex(64)}}
}

func (a *application) service() *corev1.Service {
	return &corev1.Service{ObjectMeta: a.meta(), Spec: corev1.ServiceSpec{
		Selector: a.selector(), Ports: []corev1.ServicePort{{Name: "http", Port: 80}},
		// So that a load of any size finds addresses.
		ClusterIP: corev1.ClusterIPNone,
	}}
}

func (a *application) deployment() *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: a.meta(), Spec: appsv1.DeploymentSpec{
		Replicas: a.replicas(), Selector: &metav1.LabelSelector{MatchLabels: a.selector()},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: maps.Clone(a.labels)}, Spec: a.podSpec()},
	}}
}

func (a *application) replicaSet() *appsv1.ReplicaSet {
	meta := a.meta()
	meta.Name += "-" + a.hash
	meta.Labels = a.hashed(a.labels)
	meta.OwnerReferences = []metav1.OwnerReference{owner("Deployment", a.name, a.deploymentUID)}
	return &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{
		Replicas: a.replicas(), Selector: &metav1.LabelSelector{MatchLabels: a.hashed(a.selector())},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: a.hashed(a.labels)}, Spec: a.podSpec()},
	}}
}

func (a *application) replicas() *int32 { return new(int32(a.pods)) }

func owner(kind, name string, uid types.UID) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: "apps/v1", Kind: kind, Name: name, UID: uid,
		Controller: new(true), BlockOwnerDeletion: new(true),
	}
}

func node(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		"kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
	}}}
}

// trustBundle is the ConfigMap that every pod of a namespace mounts beside its
// token.
func trustBundle() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kube-root-ca.crt"}, Data: map[string]string{"ca.crt": "certificate"}}
}
