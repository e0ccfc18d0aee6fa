package main

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"graphview.dev/test/env"
)

const (
	namespaces = 10
	// podsEach is how many pods an application has, perApplication how many objects: these, a
	// Deployment, a ReplicaSet, a Service, a ConfigMap, a Secret and a ServiceAccount.
	podsEach       = 4
	perApplication = podsEach + 6
	// creators work at once.
	creators = 24
)

var viewing = []string{"get", "list", "watch"}

func namespaceOf(i int) string { return fmt.Sprintf("team-%d", i) }

// furnish makes the namespaces with their applications, and the rights of the user two.
func furnish(ctx context.Context, plane *env.ControlPlane, objects int) error {
	config := plane.Config()
	config.ContentType, config.QPS = runtime.ContentTypeProtobuf, -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	// Without controllers, the ClusterRole view has no rules.
	viewer := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "viewer"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"pods", "services", "configmaps", "serviceaccounts", "endpoints", "persistentvolumeclaims", "replicationcontrollers"}, Verbs: viewing},
		{APIGroups: []string{"apps", "batch", "autoscaling", "networking.k8s.io", "policy", "discovery.k8s.io"}, Resources: []string{"*"}, Verbs: viewing},
	}}
	if _, err := client.RbacV1().ClusterRoles().Create(ctx, viewer, metav1.CreateOptions{}); err != nil {
		return err
	}
	for i := range namespaces {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceOf(i)}}
		if _, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
			return err
		}
		if i > 1 {
			continue
		}
		binding := &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "two", Namespace: namespace.Name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "two"}},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "viewer"},
		}
		if _, err := client.RbacV1().RoleBindings(namespace.Name).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	group, creating := errgroup.WithContext(ctx)
	group.SetLimit(creators)
	for i := range objects / perApplication {
		group.Go(func() error {
			return application(creating, client, namespaceOf(i%namespaces), fmt.Sprintf("app-%04d", i))
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("create the objects: %w", err)
	}
	return nil
}

// application creates the objects of an application, including those of its controllers.
func application(ctx context.Context, client kubernetes.Interface, namespace, name string) error {
	o, labels := metav1.CreateOptions{}, map[string]string{"app.kubernetes.io/name": name}
	meta := func(owners ...metav1.OwnerReference) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels, OwnerReferences: owners}
	}
	controller := func(kind string, of metav1.ObjectMeta) metav1.OwnerReference {
		yes := true
		return metav1.OwnerReference{APIVersion: "apps/v1", Kind: kind, Name: of.Name, UID: of.UID, Controller: &yes}
	}
	if _, err := client.CoreV1().ServiceAccounts(namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta()}, o); err != nil {
		return err
	}
	if _, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: meta(), Data: map[string]string{"colour": "red"}}, o); err != nil {
		return err
	}
	if _, err := client.CoreV1().Secrets(namespace).Create(ctx, &corev1.Secret{ObjectMeta: meta(), StringData: map[string]string{"password": "sample-only"}}, o); err != nil {
		return err
	}
	service := &corev1.Service{ObjectMeta: meta(), Spec: corev1.ServiceSpec{ClusterIP: "None", Selector: labels, Ports: []corev1.ServicePort{{Port: 80}}}}
	if _, err := client.CoreV1().Services(namespace).Create(ctx, service, o); err != nil {
		return err
	}
	no := false
	from := corev1.LocalObjectReference{Name: name}
	spec := corev1.PodSpec{ServiceAccountName: name, AutomountServiceAccountToken: &no, Containers: []corev1.Container{{
		Name: "main", Image: "example.com/web:1.2.3", EnvFrom: []corev1.EnvFromSource{
			{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: from}}, {SecretRef: &corev1.SecretEnvSource{LocalObjectReference: from}},
		},
	}}}
	selector, template := &metav1.LabelSelector{MatchLabels: labels}, corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec}
	deployment, err := client.AppsV1().Deployments(namespace).Create(ctx, &appsv1.Deployment{
		ObjectMeta: meta(), Spec: appsv1.DeploymentSpec{Selector: selector, Template: template},
	}, o)
	if err != nil {
		return err
	}
	set, err := client.AppsV1().ReplicaSets(namespace).Create(ctx, &appsv1.ReplicaSet{
		ObjectMeta: meta(controller("Deployment", deployment.ObjectMeta)), Spec: appsv1.ReplicaSetSpec{Selector: selector, Template: template},
	}, o)
	if err != nil {
		return err
	}
	for i := range podsEach {
		pod := &corev1.Pod{ObjectMeta: meta(controller("ReplicaSet", set.ObjectMeta)), Spec: spec}
		pod.Name = fmt.Sprintf("%s-%d", name, i)
		if _, err := client.CoreV1().Pods(namespace).Create(ctx, pod, o); err != nil {
			return err
		}
	}
	return nil
}
