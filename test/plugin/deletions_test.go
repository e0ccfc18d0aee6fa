package plugin

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/client"
	"graphview.dev/test/env"
)

// deletion is a question of TestImpact, asked about a sample in a namespace of its own.
type deletion struct {
	// object is RESOURCE/NAME in the namespace, or RESOURCE/ for the object of the cluster with
	// the name of the namespace.
	object string
	policy string
	// want are the numbers of objects that are deleted, that break now, that cannot start again
	// and that lose an optional reference.
	want [4]int
	// held are the objects among the deleted ones that stay for now.
	held int
	// installer deletes what it manages. The control plane of the tests has only Helm.
	installer string
}

// deletions are the questions of TestImpact, by sample.
var deletions = map[string][]deletion{
	"shop": {
		{object: "configmaps/settings", want: [4]int{1, 0, 4, 0}},
		{object: "configmaps/extra", want: [4]int{1, 0, 0, 4}},
		{object: "configmaps/held", want: [4]int{1, 0, 0, 0}, held: 1},
		{object: "secrets/token", want: [4]int{1, 0, 4, 0}},
		{object: "secrets/tls", want: [4]int{1, 1, 0, 0}},
		{object: "secrets/web-token", want: [4]int{1, 0, 0, 0}},
		{object: "serviceaccounts/web", want: [4]int{2, 2, 2, 0}},
		{object: "roles.rbac.authorization.k8s.io/reader", want: [4]int{1, 6, 0, 0}},
		{object: "rolebindings.rbac.authorization.k8s.io/readers", want: [4]int{1, 5, 0, 0}},
		{object: "deployments.apps/web", want: [4]int{4, 2, 0, 0}},
		{object: "replicasets.apps/", want: [4]int{3, 2, 0, 0}},
		{object: "statefulsets.apps/db", want: [4]int{3, 1, 0, 0}},
		{object: "daemonsets.apps/agent", want: [4]int{2, 0, 0, 0}},
		{object: "jobs.batch/once", want: [4]int{2, 0, 0, 0}},
		{object: "cronjobs.batch/nightly", want: [4]int{1, 0, 0, 0}},
		{object: "services/web", want: [4]int{3, 1, 0, 0}},
		{object: "services/db", want: [4]int{3, 2, 0, 0}},
		{object: "ingresses.networking.k8s.io/web", want: [4]int{1, 0, 0, 0}},
		{object: "poddisruptionbudgets.policy/web", want: [4]int{1, 0, 0, 0}},
		{object: "pods/db-0", want: [4]int{1, 1, 0, 0}},
		{object: "storageclasses.storage.k8s.io/", want: [4]int{1, 0, 2, 0}},
		{object: "ingressclasses.networking.k8s.io/", want: [4]int{1, 1, 0, 0}},
		{object: "namespaces/", want: [4]int{33, 0, 0, 0}, held: 2},
	},
	"deployment": {
		{object: "deployments.apps/web", want: [4]int{3, 2, 0, 0}},
		{object: "deployments.apps/web", policy: "Foreground", want: [4]int{3, 2, 0, 0}},
		{object: "deployments.apps/web", policy: "Orphan", want: [4]int{1, 1, 0, 0}},
		{object: "replicasets.apps/", policy: "Orphan", want: [4]int{1, 0, 0, 0}},
		{object: "horizontalpodautoscalers.autoscaling/web", want: [4]int{1, 0, 0, 0}},
		{object: "networkpolicies.networking.k8s.io/web", want: [4]int{1, 0, 0, 0}},
		{object: "endpointslices.discovery.k8s.io/", want: [4]int{1, 0, 0, 0}},
		{object: "serviceaccounts/default", want: [4]int{1, 1, 0, 0}},
		{object: "configmaps/kube-root-ca.crt", want: [4]int{1, 0, 1, 0}},
	},
	"deleted claims": {
		{object: "statefulsets.apps/db", want: [4]int{4, 0, 0, 0}},
		{object: "statefulsets.apps/db", policy: "Orphan", want: [4]int{1, 0, 0, 0}},
		{object: "persistentvolumeclaims/data-db-0", want: [4]int{1, 0, 1, 1}},
	},
	"held dependent": {
		{object: "configmaps/owner", want: [4]int{2, 0, 0, 0}, held: 1},
		{object: "configmaps/owner", policy: "Foreground", want: [4]int{2, 0, 0, 0}, held: 2},
		{object: "configmaps/dependent", want: [4]int{1, 0, 0, 0}, held: 1},
	},
	"several owners": {
		{object: "configmaps/owner", want: [4]int{3, 0, 0, 0}},
		{object: "configmaps/owner", policy: "Foreground", want: [4]int{3, 0, 0, 0}},
		{object: "configmaps/other", want: [4]int{1, 0, 0, 0}},
		{object: "configmaps/of-one", want: [4]int{1, 0, 0, 0}},
	},
	"definition": {{object: "customresourcedefinitions.apiextensions.k8s.io/", want: [4]int{3, 0, 0, 0}}},
	"volume": {
		{object: "persistentvolumes/", want: [4]int{1, 2, 0, 0}, held: 1},
		{object: "persistentvolumeclaims/data", want: [4]int{1, 0, 1, 0}},
	},
	"node": {
		{object: "nodes/", want: [4]int{2, 0, 0, 0}},
		{object: "persistentvolumeclaims/data", want: [4]int{1, 0, 1, 0}, held: 1},
	},
	"webhook": {
		{object: "services/hook", want: [4]int{1, 1, 0, 0}},
		{object: "validatingwebhookconfigurations.admissionregistration.k8s.io/", want: [4]int{1, 0, 0, 0}},
	},
	"cluster role": {
		{object: "clusterroles.rbac.authorization.k8s.io/", want: [4]int{1, 3, 0, 0}},
		{object: "clusterrolebindings.rbac.authorization.k8s.io/", want: [4]int{1, 2, 0, 0}},
	},
	"priority": {
		{object: "priorityclasses.scheduling.k8s.io/", want: [4]int{1, 0, 3, 0}},
		{object: "secrets/registry", want: [4]int{1, 0, 3, 0}},
	},
	"runs of a CronJob": {{object: "cronjobs.batch/nightly", want: [4]int{3, 0, 0, 0}}},
	"installers": {
		{object: "kustomizations.kustomize.toolkit.fluxcd.io/apps", want: [4]int{1, 0, 0, 0}},
		{object: "applications.argoproj.io/apps", want: [4]int{1, 0, 0, 0}},
		{object: "kustomizations.kustomize.toolkit.fluxcd.io/pruning", want: [4]int{2, 0, 0, 0}, held: 1, installer: "kustomize-controller"},
		{object: "applications.argoproj.io/cascading", want: [4]int{2, 0, 0, 0}, held: 1, installer: "Argo CD"},
	},
	"release": {
		{object: "secrets/sh.helm.release.v1.shop.v1", want: [4]int{1, 0, 0, 1}},
		{object: "helmreleases.helm.toolkit.fluxcd.io/shop", want: [4]int{6, 0, 0, 0}, held: 1, installer: "helm"},
	},
}

// madeObjects are the numbers of objects of each sample after the controllers have made theirs.
var madeObjects = map[string]int{
	"shop": 35, "deployment": 11, "deleted claims": 7, "held dependent": 5, "several owners": 8, "definition": 6, "volume": 6, "node": 6,
	"webhook": 5, "cluster role": 6, "priority": 8, "runs of a CronJob": 6, "installers": 8, "release": 10,
}

// impactKinds are the resources that are looked at, by their kinds. NS is the namespace.
var impactKinds = map[string]string{
	"Pod": "pods", "ConfigMap": "configmaps", "Secret": "secrets", "ServiceAccount": "serviceaccounts", "Service": "services",
	"Endpoints": "endpoints", "PersistentVolumeClaim": "persistentvolumeclaims",
	"Deployment": "deployments.apps", "ReplicaSet": "replicasets.apps", "StatefulSet": "statefulsets.apps", "DaemonSet": "daemonsets.apps",
	"ControllerRevision": "controllerrevisions.apps", "Job": "jobs.batch", "CronJob": "cronjobs.batch",
	"HorizontalPodAutoscaler": "horizontalpodautoscalers.autoscaling",
	"Ingress":                 "ingresses.networking.k8s.io", "NetworkPolicy": "networkpolicies.networking.k8s.io",
	"EndpointSlice": "endpointslices.discovery.k8s.io", "PodDisruptionBudget": "poddisruptionbudgets.policy",
	"Role": "roles.rbac.authorization.k8s.io", "RoleBinding": "rolebindings.rbac.authorization.k8s.io",
	"Kustomization": "kustomizations.kustomize.toolkit.fluxcd.io", "HelmRelease": "helmreleases.helm.toolkit.fluxcd.io",
	"Application": "applications.argoproj.io",
}

// clusterKinds are those of the cluster.
var clusterKinds = map[string]string{
	"Namespace": "namespaces", "Node": "nodes", "PersistentVolume": "persistentvolumes",
	"IngressClass": "ingressclasses.networking.k8s.io", "StorageClass": "storageclasses.storage.k8s.io", "PriorityClass": "priorityclasses.scheduling.k8s.io",
	"ClusterRole": "clusterroles.rbac.authorization.k8s.io", "ClusterRoleBinding": "clusterrolebindings.rbac.authorization.k8s.io",
	"ValidatingWebhookConfiguration": "validatingwebhookconfigurations.admissionregistration.k8s.io",
	"CustomResourceDefinition":       "customresourcedefinitions.apiextensions.k8s.io",
}

// question is a deletion in its namespace.
type question struct {
	deletion

	sample, namespace string
	// objects and chart are those of the sample, see read.
	objects []*unstructured.Unstructured
	chart   txtar.Archive
}

func (q *question) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s: %s %s", q.sample, q.object, q.policy))
}

// questions are all deletions, each with a namespace.
func questions() []*question {
	var all []*question
	for _, sample := range slices.Sorted(maps.Keys(deletions)) {
		for _, d := range deletions[sample] {
			all = append(all, &question{deletion: d, sample: sample, namespace: fmt.Sprint("impact-", len(all))})
		}
	}
	return all
}

// key is the object of the question. The name of an object that a controller named is found.
func (q *question) key(made map[string]string) client.Key {
	resource, name, _ := strings.Cut(q.object, "/")
	var k client.Key
	k.Resource, k.Group, _ = strings.Cut(resource, ".")
	k.Name = name
	switch {
	case resource == clusterKinds["CustomResourceDefinition"]:
		k.Name = "widgets." + q.namespace + ".example.com"
		return k
	case slices.Contains(slices.Collect(maps.Values(clusterKinds)), resource):
		k.Name = q.namespace
		return k
	}
	k.Namespace = q.namespace
	for other := range made {
		if head, found := strings.CutPrefix(other, resource+"/"+q.namespace+"/"); found && k.Name == "" {
			k.Name = head
		}
	}
	return k
}

// spec returns the ad-hoc view of the namespace.
func (q *question) spec() client.Spec {
	var terms []string
	for _, kinds := range []map[string]string{impactKinds, clusterKinds} {
		for _, resource := range kinds {
			name, group, _ := strings.Cut(resource, ".")
			terms = append(terms, fmt.Sprintf("group == '%s' && resource == '%s'", group, name))
		}
	}
	slices.Sort(terms)
	terms = append(terms, fmt.Sprintf("group == '%s.example.com'", q.namespace))
	return client.Spec{
		Queries:    []v1alpha1.Query{{Include: &v1alpha1.Include{ResourceSelectorExpression: strings.Join(terms, " || ")}}},
		Namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{v1alpha1.NamespaceName(q.namespace)}},
	}
}

// read reads the objects of a question: those of its sample, and the files of its chart.
func (q *question) read(t *testing.T) {
	t.Helper()
	if q.sample == "shop" {
		text, err := os.ReadFile(filepath.Join("testdata", "impact_shop.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		q.objects = q.split(t, string(text))
		return
	}
	archive, err := txtar.ParseFile(filepath.Join("testdata", "impact.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range archive.Files {
		name, inChart := strings.CutPrefix(file.Name, q.sample+"/")
		switch {
		case inChart:
			q.chart.Files = append(q.chart.Files, txtar.File{Name: name, Data: file.Data})
		case file.Name == q.sample:
			q.objects = q.split(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: NS}\n---\n"+string(file.Data))
		}
	}
	if q.objects == nil {
		t.Fatalf("no sample %q", q.sample)
	}
}

// split parses the documents of a sample.
func (q *question) split(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := env.Objects(strings.ReplaceAll(text, "NS", q.namespace))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// uidsOf are those of the objects in the namespace of each question, and of the objects of the
// cluster with its name. They are read together, since there are many questions.
func uidsOf(t *testing.T, api kube.Client, all []*question) map[*question]map[string]string {
	t.Helper()
	found, in := map[*question]map[string]string{}, map[string]*question{}
	for _, q := range all {
		found[q], in[q.namespace] = map[string]string{}, q
	}
	read := func(kind, resource string) {
		_, group, _ := strings.Cut(resource, ".")
		mapping, err := api.RESTMapper().RESTMapping(schema.GroupKind{Group: group, Kind: kind})
		if err != nil {
			return // a kind may not be served yet, or not any more
		}
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(mapping.GroupVersionKind.GroupVersion().WithKind(kind + "List"))
		if err := api.List(t.Context(), list); err != nil {
			return
		}
		for i := range list.Items {
			object := &list.Items[i]
			where := object.Namespace
			if where == "" { // of the cluster
				where = strings.TrimSuffix(strings.TrimPrefix(object.Name, "widgets."), ".example.com")
			}
			if q := in[where]; q != nil {
				found[q][resource+"/"+object.Namespace+"/"+object.Name] = string(object.UID)
			}
		}
	}
	for _, kinds := range []map[string]string{impactKinds, clusterKinds} {
		for kind, resource := range kinds {
			read(kind, resource)
		}
	}
	for _, q := range all {
		if q.sample == "definition" {
			read("Widget", "widgets."+q.namespace+".example.com")
		}
	}
	return found
}

func resourceOf(k client.Key) string { return strings.TrimSuffix(k.Resource+"."+k.Group, ".") }

func textOf(k client.Key) string { return resourceOf(k) + "/" + k.Namespace + "/" + k.Name }
