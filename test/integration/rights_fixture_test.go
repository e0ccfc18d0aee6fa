package integration

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
)

// person is a user and a ServiceAccount that have the same rights.
type person struct {
	name        string
	certificate *rest.Config
	token       *rest.Config
	subjects    []rbacv1.Subject
}

// newPerson makes one whose names begin with the namespace's.
func newPerson(t *testing.T, namespace, name string, groups ...string) *person {
	t.Helper()
	if err := cluster.CreateServiceAccount(t.Context(), namespace, name); err != nil {
		t.Fatal(err)
	}
	token, err := cluster.ServiceAccountConfig(t.Context(), namespace, name)
	if err != nil {
		t.Fatal(err)
	}
	user := namespace + "-" + name
	return &person{
		name: name, certificate: cluster.ClientConfig(user, groups...), token: token,
		subjects: []rbacv1.Subject{
			{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user},
			{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name},
		},
	}
}

// grant binds rules to a person in a namespace, or in all for "", and waits until they apply. It returns the
// binding, whose deletion revokes them.
func grant(t *testing.T, c client.Client, p *person, namespace string, rules ...rbacv1.PolicyRule) client.Object {
	t.Helper()
	// Unique beyond the test, since it may be cluster-scoped.
	meta := metav1.ObjectMeta{GenerateName: p.name + "-", Namespace: namespace}
	if namespace == "" {
		role := &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}
		create(t, c, role)
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: meta, Subjects: p.subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		}
		create(t, c, binding)
		fixture.Authorized(t, c, p.subjects, namespace, rules...)
		return binding
	}
	role := &rbacv1.Role{ObjectMeta: meta, Rules: rules}
	create(t, c, role)
	binding := &rbacv1.RoleBinding{
		ObjectMeta: meta, Subjects: p.subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
	}
	create(t, c, binding)
	fixture.Authorized(t, c, p.subjects, namespace, rules...)
	return binding
}

// remove deletes an object, which must exist.
func remove(t *testing.T, c client.Client, object client.Object) {
	t.Helper()
	if err := c.Delete(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

// rule is for all groups.
func rule(verbs string, resources ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: resources, Verbs: strings.Split(verbs, " ")}
}

func graphRule(verbs string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{"stream.graphview.dev"}, Resources: []string{"graphs", "graphs/object"}, Verbs: strings.Split(verbs, " ")}
}

// furnish fills a namespace with things that refer to each other, to a class of
// the cluster, and to things that do not exist.
func furnish(t *testing.T, c client.Client, namespace, class string) {
	t.Helper()
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }
	labels := map[string]string{"app": "web"}
	secret := func(name string) corev1.Volume {
		return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name}}}
	}
	variables := func(name string) corev1.EnvFromSource {
		return corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}
	}
	claim := corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
	}}
	replicas := int32(2)
	for _, o := range []client.Object{
		&corev1.ConfigMap{ObjectMeta: meta("settings"), Data: map[string]string{"colour": "red"}},
		&corev1.ConfigMap{ObjectMeta: meta("unused")},
		&corev1.Secret{ObjectMeta: meta("password"), StringData: map[string]string{"password": "canary"}},
		&corev1.Service{ObjectMeta: meta("web"), Spec: corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: 80}}}},
		&corev1.PersistentVolumeClaim{ObjectMeta: meta("data"), Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}},
		&appsv1.Deployment{ObjectMeta: meta("web"), Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					Containers: []corev1.Container{{
						Name: "main", Image: "example.com/web", EnvFrom: []corev1.EnvFromSource{variables("settings"), variables("missing")},
					}},
					Volumes: []corev1.Volume{secret("password"), secret("absent"), claim},
				},
			},
		}},
	} {
		create(t, c, o)
	}
}

func newStorageClass(t *testing.T, c client.Client) string {
	t.Helper()
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{GenerateName: "rights-"}, Provisioner: "example.com/none"}
	create(t, c, class)
	return class.Name
}

// judge finds out what a user may see by asking the API server as that user: it lists, and
// asks about watch.
type judge struct {
	t       *testing.T
	lists   dynamic.Interface
	reviews authorizationclient.SelfSubjectAccessReviewInterface
	known   map[oracle.VertexKey]bool
}

func newJudge(t *testing.T, config *rest.Config) *judge {
	t.Helper()
	lists, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	reviews, err := authorizationclient.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &judge{t, lists, reviews.SelfSubjectAccessReviews(), map[oracle.VertexKey]bool{}}
}

// sees reports whether the user may see a vertex. The name does not matter.
func (j *judge) sees(key oracle.VertexKey) bool {
	everywhere := key
	everywhere.Name, everywhere.Namespace = "", ""
	key.Name = ""
	return j.may(everywhere) || key.Namespace != "" && j.may(key)
}

func (j *judge) may(place oracle.VertexKey) bool {
	j.t.Helper()
	if may, ok := j.known[place]; ok {
		return may
	}
	r := schema.GroupVersionResource{Group: place.Group, Version: place.Version, Resource: place.Resource}
	_, err := j.lists.Resource(r).Namespace(place.Namespace).List(j.t.Context(), metav1.ListOptions{Limit: 1})
	if err != nil && !apierrors.IsForbidden(err) {
		j.t.Fatal(err)
	}
	watch, reviewErr := j.reviews.Create(j.t.Context(), &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: "watch", Group: r.Group, Version: r.Version, Resource: r.Resource, Namespace: place.Namespace,
		},
	}}, metav1.CreateOptions{})
	if reviewErr != nil {
		j.t.Fatal(reviewErr)
	}
	j.known[place] = err == nil && watch.Status.Allowed
	return j.known[place]
}

// leave returns the part of a graph that the judge's user may see, and the expected
// ACCESS_DENIED warnings of a view that selects the resources, with or without objects.
// named are the namespaces that the view's spec names.
func (j *judge) leave(whole oracle.Graph, selected []v1alpha1.ResourceStatus, named ...string) (seen oracle.Graph, denied map[string]bool) {
	seen = oracle.Graph{Vertices: map[oracle.VertexKey]any{}, Arcs: map[oracle.ArcKey]oracle.Attributes{}}
	denied = map[string]bool{}
	for key, content := range whole.Vertices {
		if j.sees(key) {
			seen.Vertices[key] = content
		}
	}
	for _, r := range selected {
		within := named
		if len(named) == 0 || !r.Namespaced {
			within = []string{""}
		}
		for _, namespace := range within {
			if !j.sees(oracle.VertexKey{Group: r.Group, Version: r.Version, Resource: r.Resource, Namespace: namespace}) {
				denied[fmt.Sprintf("%s/%s/%s in %q", r.Group, r.Version, r.Resource, namespace)] = true
			}
		}
	}
	for key, attributes := range whole.Arcs {
		if j.sees(key.From) && j.sees(key.To) {
			seen.Arcs[key] = attributes
		}
	}
	return seen, denied
}
