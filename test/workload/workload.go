package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Workload makes, changes and deletes objects at random, in the namespaces that
// it is given, and changes the labels of these.
type Workload struct {
	Client     client.Client
	Random     *rand.Rand
	Namespaces []string
	// Steps counts the calls of Step.
	Steps int
}

// Step makes one change, or attempts a change that the cluster refuses for a good reason.
// It returns any other error.
func (w *Workload) Step(ctx context.Context) error {
	w.Steps++
	kind := w.Random.IntN(9)
	switch kind {
	case 7:
		return w.relabelPod(ctx)
	case 8:
		return w.relabelNamespace(ctx)
	}
	o := w.object(kind)
	if w.Random.IntN(4) == 0 {
		if err := client.IgnoreNotFound(w.Client.Delete(ctx, o, client.GracePeriodSeconds(0))); err != nil {
			return fmt.Errorf("delete %T %s: %w", o, o.GetName(), err)
		}
		return nil
	}
	// These errors are no failures: a controller was faster, a finalizer delays a deletion, or a pod's
	// ServiceAccount is missing.
	err := w.write(ctx, o)
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) && !apierrors.IsNotFound(err) {
		return fmt.Errorf("write %T %s: %w", o, o.GetName(), err)
	}
	return nil
}

// object returns an object of a kind, with one of a few names.
func (w *Workload) object(kind int) client.Object {
	meta := metav1.ObjectMeta{Namespace: w.namespace(), Labels: w.labels()}
	named := func(prefix string, n int) { meta.Name = fmt.Sprint(prefix, w.Random.IntN(n)) }
	switch kind {
	case 0:
		data := map[string]string{"key": strconv.Itoa(w.Random.IntN(5))}
		if w.Random.IntN(3) == 0 {
			data["hidden"] = "yes"
		}
		named("config-", 5)
		return &corev1.ConfigMap{ObjectMeta: meta, Data: data}
	case 1:
		named("secret-", 5)
		return &corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"password": strconv.Itoa(w.Random.Int())}}
	case 2:
		named("account-", 3)
		return &corev1.ServiceAccount{ObjectMeta: meta, ImagePullSecrets: []corev1.LocalObjectReference{{Name: fmt.Sprint("secret-", w.Random.IntN(5))}}}
	case 3:
		named("svc-", 3)
		return &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
			Selector: map[string]string{"tier": w.tier()}, Ports: []corev1.ServicePort{{Port: 80}},
		}}
	case 4:
		replicas := int32(w.Random.IntN(4))
		named("web-", 2)
		template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": meta.Name, "tier": w.tier()}}, Spec: w.podSpec()}
		return &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": meta.Name}}, Template: template,
		}}
	case 5:
		named("policy-", 3)
		return &networkingv1.NetworkPolicy{ObjectMeta: meta, Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{"tier": w.tier()}},
			Ingress:     []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{w.peer(), w.peer()}}},
		}}
	default:
		named("pod-", 6)
		return &corev1.Pod{ObjectMeta: meta, Spec: w.podSpec()}
	}
}

// peer selects pods, sometimes in namespaces with some label.
func (w *Workload) peer() networkingv1.NetworkPolicyPeer {
	peer := networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": w.tier()}}}
	coloured := metav1.LabelSelectorRequirement{Key: "colour", Operator: metav1.LabelSelectorOpExists}
	switch w.Random.IntN(4) {
	case 0:
		return peer
	case 1:
		coloured = metav1.LabelSelectorRequirement{Key: "colour", Operator: metav1.LabelSelectorOpNotIn, Values: []string{Colour(w.Namespaces[0])}}
	}
	peer.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{coloured}}
	return peer
}

// write creates or replaces an object. It does not replace pods.
func (w *Workload) write(ctx context.Context, o client.Object) error {
	err := w.Client.Create(ctx, o)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	if _, isPod := o.(*corev1.Pod); isPod {
		return nil
	}
	o.SetResourceVersion("")
	old, _ := o.DeepCopyObject().(client.Object)
	if err := w.Client.Get(ctx, client.ObjectKeyFromObject(o), old); err != nil {
		return err
	}
	o.SetResourceVersion(old.GetResourceVersion())
	if s, ok := o.(*corev1.Service); ok {
		if old, ok := old.(*corev1.Service); ok {
			s.Spec.ClusterIP = old.Spec.ClusterIP
		}
	}
	return w.Client.Update(ctx, o)
}

func (w *Workload) namespace() string { return w.Namespaces[w.Random.IntN(len(w.Namespaces))] }

func (w *Workload) tier() string { return []string{"front", "back", "none"}[w.Random.IntN(3)] }

func (w *Workload) labels() map[string]string {
	if w.Random.IntN(3) == 0 {
		return nil
	}
	tier := w.tier()
	return map[string]string{"tier": tier, "app.kubernetes.io/name": "of-" + tier}
}

func (w *Workload) podSpec() corev1.PodSpec {
	spec := corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/main"}}}
	if w.Random.IntN(2) == 0 {
		spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: fmt.Sprint("config-", w.Random.IntN(6))},
		}}}
	}
	if w.Random.IntN(2) == 0 {
		spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: fmt.Sprint("secret-", w.Random.IntN(6))},
		}}}
	}
	return spec
}

// somePod returns one of the pods of a namespace, nil if there is none.
func (w *Workload) somePod(ctx context.Context) (*corev1.Pod, error) {
	var pods corev1.PodList
	if err := w.Client.List(ctx, &pods, client.InNamespace(w.namespace())); err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	if len(pods.Items) == 0 {
		return nil, nil
	}
	return &pods.Items[w.Random.IntN(len(pods.Items))], nil
}

// relabelPod changes the labels of some pod, as people and controllers do.
func (w *Workload) relabelPod(ctx context.Context) error {
	pod, err := w.somePod(ctx)
	if pod == nil {
		return err
	}
	patch := client.MergeFrom(pod.DeepCopy())
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels["tier"] = w.tier()
	if err := client.IgnoreNotFound(w.Client.Patch(ctx, pod, patch)); err != nil {
		return fmt.Errorf("relabel pod %s: %w", pod.Name, err)
	}
	return nil
}

// relabelNamespace moves a namespace into a view or out of it.
func (w *Workload) relabelNamespace(ctx context.Context) error {
	ns := &corev1.Namespace{}
	if err := w.Client.Get(ctx, client.ObjectKey{Name: w.namespace()}, ns); err != nil {
		return fmt.Errorf("get namespace: %w", err)
	}
	patch := client.MergeFrom(ns.DeepCopy())
	if w.Random.IntN(2) == 0 {
		ns.Labels["colour"] = Colour(w.Namespaces[0])
	} else {
		delete(ns.Labels, "colour")
	}
	if err := w.Client.Patch(ctx, ns, patch); err != nil {
		return fmt.Errorf("relabel namespace %s: %w", ns.Name, err)
	}
	return nil
}
