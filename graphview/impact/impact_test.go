package impact

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
)

const web = `
	deployments/web: mounts spec.template.spec.volumes[].configMap.name configmaps/web
	deployments/web: runs_as spec.template.spec.serviceAccountName serviceaccounts/web
	replicasets/web-1: controlled deployments/web
	replicasets/web-1: mounts spec.template.spec.volumes[].configMap.name configmaps/web
	pods/web-1-a: controlled replicasets/web-1
	pods/web-1-b: controlled replicasets/web-1
	pods/web-1-a: mounts spec.volumes[].configMap.name configmaps/web
	pods/web-1-b: mounts spec.volumes[].configMap.name configmaps/web
	pods/web-1-a: runs_as spec.serviceAccountName serviceaccounts/web
	pods/web-1-b: runs_as spec.serviceAccountName serviceaccounts/web
	services/web: selects spec.selector pods/web-1-a
	services/web: selects spec.selector pods/web-1-b
	endpointslices/web-x: controlled services/web
	endpoints/web: belongs_to metadata.name services/web
	ipaddresses/10.0.0.1: belongs_to spec.parentRef services/web
	ingresses/web: routes_to spec.rules[] services/web
	ingresses/web: is_of_class spec.ingressClassName ingressclasses/nginx
	poddisruptionbudgets/web: protects spec.selector pods/web-1-a
	horizontalpodautoscalers/web: scales spec.scaleTargetRef deployments/web
`

func TestOf(t *testing.T) {
	for what, test := range map[string]struct {
		graph  string
		object string
		policy Policy
		want   string
	}{
		"a Deployment takes its pods, and the way to them": {web, "deployments/web", Background, `
			deleted: deployments/web
			deleted: replicasets/web-1
			deleted: pods/web-1-a pods/web-1-b
			breaks now: horizontalpodautoscalers/web
			breaks now: services/web
			breaks now: ingresses/web`},
		"orphaned dependents stay": {web, "deployments/web", Orphan, `
			deleted: deployments/web
			breaks now: horizontalpodautoscalers/web`},
		"one of two pods": {web, "pods/web-1-a", Background, `
			deleted: pods/web-1-a [again by replicasets/web-1]`},
		"a ReplicaSet": {web, "replicasets/web-1", Background, `
			deleted: replicasets/web-1 [again by deployments/web]
			deleted: pods/web-1-a pods/web-1-b
			breaks now: services/web
			breaks now: ingresses/web`},
		"a mounted ConfigMap stays mounted": {web, "configmaps/web", Background, `
			deleted: configmaps/web
			cannot start again: deployments/web
			cannot start again: pods/web-1-a pods/web-1-b
			cannot start again: replicasets/web-1`},
		"a Service": {web, "services/web", Background, `
			deleted: services/web
			deleted: endpoints/web
			deleted: endpointslices/web-x
			deleted: ipaddresses/10.0.0.1
			breaks now: ingresses/web`},
		"a ServiceAccount": {web, "serviceaccounts/web", Background, `
			deleted: serviceaccounts/web
			breaks now: pods/web-1-a pods/web-1-b
			cannot start again: deployments/web`},
		"an IngressClass": {web, "ingressclasses/nginx", Background, `
			deleted: ingressclasses/nginx
			breaks now: ingresses/web`},
		"an optional reference": {`
			pods/a: mounts? spec.volumes[].configMap.name configmaps/x
			pods/b: reads_env_of spec.containers[].envFrom[].configMapRef.name configmaps/x`, "configmaps/x", Background, `
			deleted: configmaps/x
			cannot start again: pods/b
			loses an optional reference: pods/a`},
		"one of two owners": {`
			configmaps/c: owned pods/a
			configmaps/c: owned pods/b`, "pods/a", Background, `
			deleted: pods/a`},
		"both owners go": {`
			pods/a: controlled jobs/j
			pods/b: controlled jobs/j
			configmaps/c: owned pods/a
			configmaps/c: owned pods/b
			jobs/j: controlled cronjobs/n`, "jobs/j", Background, `
			deleted: jobs/j
			deleted: pods/a pods/b
			deleted: configmaps/c`},
		"an owner outside is left": {`
			configmaps/c: owned pods/a
			configmaps/c: owned-outside pods/b`, "pods/a", Background, `
			deleted: pods/a`},
		"a namespace": {`
			namespaces/shop
			pods/a: mounts spec.volumes[].secret.secretName secrets/s
			ingresses/other/x: routes_to spec.rules[] services/web
			widgets/other/w`, "namespaces/shop", Background, `
			deleted: namespaces/shop
			deleted: pods/a
			deleted: secrets/s
			deleted: services/web
			breaks now: ingresses/other/x`},
		"a kind": {`
			customresourcedefinitions/widgets.example.com
			widgets/a
			widgets/other/b
			pods/p: owned widgets/a`, "customresourcedefinitions/widgets.example.com", Background, `
			deleted: customresourcedefinitions/widgets.example.com
			deleted: widgets/other/b widgets/a
			deleted: pods/p`},
		"a Role takes permissions": {`
			rolebindings/b: grants roleRef roles/r
			rolebindings/b: binds subjects[] serviceaccounts/s
			pods/p: runs_as spec.serviceAccountName serviceaccounts/s`, "roles/r", Background, `
			deleted: roles/r
			breaks now: rolebindings/b
			breaks now: serviceaccounts/s
			breaks now: pods/p`},
		"a binding takes permissions": {`
			rolebindings/b: binds subjects[] serviceaccounts/s
			pods/p: runs_as spec.serviceAccountName serviceaccounts/s`, "rolebindings/b", Background, `
			deleted: rolebindings/b
			breaks now: serviceaccounts/s
			breaks now: pods/p`},
		"a claim in use": {`
			persistentvolumeclaims/c kubernetes.io/pvc-protection
			persistentvolumes/v kubernetes.io/pv-protection prunes
			persistentvolumeclaims/c: is_bound_to spec.volumeName persistentvolumes/v
			persistentvolumes/v: is_bound_to spec.claimRef persistentvolumeclaims/c
			pods/p: mounts spec.volumes[].persistentVolumeClaim.claimName persistentvolumeclaims/c
			pods/done ended
			pods/done: mounts spec.volumes[].persistentVolumeClaim.claimName persistentvolumeclaims/c`, "persistentvolumeclaims/c", Background, `
			deleted: persistentvolumeclaims/c [held kubernetes.io/pvc-protection by pods/p]
			deleted: persistentvolumes/v [held kubernetes.io/pv-protection by persistentvolumeclaims/c] [held  by persistentvolumeclaims/c]
			cannot start again: pods/p`},
		"a claim that nothing uses": {`
			persistentvolumeclaims/c kubernetes.io/pvc-protection
			pods/done ended
			pods/done: mounts spec.volumes[].persistentVolumeClaim.claimName persistentvolumeclaims/c
			pods/waiting unscheduled
			pods/waiting: mounts spec.volumes[].persistentVolumeClaim.claimName persistentvolumeclaims/c`, "persistentvolumeclaims/c", Background, `
			deleted: persistentvolumeclaims/c
			cannot start again: pods/waiting`},
		"an address of a Service that loses its pods": {`
			services/web: selects spec.selector pods/p
			deployments/caller: calls? inferred/spec.template.spec.containers[].env[].value services/web`, "pods/p", Background, `
			deleted: pods/p
			breaks now: services/web
			probably breaks: deployments/caller`},
		"a claim of a StatefulSet at zero replicas": {`
			statefulsets/db: claims spec.volumeClaimTemplates[].metadata.name persistentvolumeclaims/data-db-0`, "persistentvolumeclaims/data-db-0", Background, `
			deleted: persistentvolumeclaims/data-db-0
			loses an optional reference: statefulsets/db`},
		"a volume that is bound": {`
			persistentvolumes/v kubernetes.io/pv-protection
			persistentvolumeclaims/c: is_bound_to spec.volumeName persistentvolumes/v
			pods/p: mounts spec.volumes[].persistentVolumeClaim.claimName persistentvolumeclaims/c`, "persistentvolumes/v", Background, `
			deleted: persistentvolumes/v [held kubernetes.io/pv-protection by persistentvolumeclaims/c]
			breaks now: persistentvolumeclaims/c
			breaks now: pods/p`},
		"a StorageClass": {`
			persistentvolumeclaims/bound: is_of_class spec.storageClassName storageclasses/fast
			persistentvolumeclaims/bound: is_bound_to spec.volumeName persistentvolumes/v
			persistentvolumes/v: is_of_class spec.storageClassName storageclasses/fast
			persistentvolumeclaims/pending: is_of_class spec.storageClassName storageclasses/fast`, "storageclasses/fast", Background, `
			deleted: storageclasses/fast
			cannot start again: persistentvolumeclaims/pending`},
		"a webhook's Service": {`
			validatingwebhookconfigurations/w: calls webhooks[].clientConfig.service services/hook`, "services/hook", Background, `
			deleted: services/hook
			breaks now: validatingwebhookconfigurations/w`},
		"a Kustomization that prunes": {`
			kustomizations/k prunes finalizers.fluxcd.io
			kustomizations/k: installs status.inventory.entries[].id deployments/web
			kustomizations/k: installs status.inventory.entries[].id configmaps/kept
			configmaps/kept kept
			pods/web: controlled deployments/web
			configmaps/labelled: uses metadata.labels['kustomize.toolkit.fluxcd.io/name'] kustomizations/k`, "kustomizations/k", Background, `
			deleted: kustomizations/k [held finalizers.fluxcd.io]
			deleted: deployments/web
			deleted: pods/web`},
		"a Kustomization that does not prune": {`
			kustomizations/k: installs status.inventory.entries[].id deployments/web`, "kustomizations/k", Background, `
			deleted: kustomizations/k`},
		"what a Kustomization applies comes back": {`
			kustomizations/k: installs status.inventory.entries[].id deployments/web`, "deployments/web", Background, `
			deleted: deployments/web [again by kustomizations/k]`},
		"a suspended Kustomization makes nothing": {`
			kustomizations/k suspended
			kustomizations/k: installs status.inventory.entries[].id deployments/web`, "deployments/web", Background, `
			deleted: deployments/web`},
		"callers of a database that are only known by its address": {`
			deployments/shop: calls? inferred/spec.template.spec.containers[].env[].value services/data/postgres
			pods/settings: mounts? spec.volumes[].configMap.name configmaps/data/x
			services/data/postgres`, "services/data/postgres", Background, `
			deleted: services/data/postgres
			probably breaks: deployments/shop`},
		"callers of a Service that loses its pods": {`
			services/db: selects spec.selector pods/db-0
			pods/db-0: controlled statefulsets/db
			deployments/web: calls? inferred/spec.template.spec.containers[].env[].value services/db
			ingresses/db: routes_to spec.rules[] services/db`, "statefulsets/db", Background, `
			deleted: statefulsets/db
			deleted: pods/db-0
			breaks now: services/db
			breaks now: ingresses/db
			probably breaks: deployments/web`},
		"a kind that a policy is inferred to need": {`
			widgets/w: uses? inferred/spec.store widgets/store`, "widgets/store", Background, `
			deleted: widgets/store
			probably breaks: widgets/w`},
		"a grant that a route relies on": {`
			referencegrants/back/g allows-routes-of-front
			httproutes/front/shop: routes_to spec.rules[].backendRefs[] services/back/web
			httproutes/other/shop: routes_to spec.rules[].backendRefs[] services/back/web
			httproutes/front/own: routes_to spec.rules[].backendRefs[] services/front/web`, "referencegrants/back/g", Background, `
			deleted: referencegrants/back/g
			breaks now: httproutes/front/shop`},
		"a grant beside another": {`
			referencegrants/back/g allows-routes-of-front
			referencegrants/back/h allows-routes-of-front
			httproutes/front/shop: routes_to spec.rules[].backendRefs[] services/back/web`, "referencegrants/back/g", Background, `
			deleted: referencegrants/back/g`},
		"a version of OLM takes what it made": {`
			clusterroles/x: belongs_to metadata.labels['olm.owner'] clusterserviceversions/shop`, "clusterserviceversions/shop", Background, `
			deleted: clusterserviceversions/shop
			deleted: clusterroles/x`},
		"a pull Secret": {`
			deployments/web: pulls_images_with? spec.template.spec.imagePullSecrets[].name secrets/pull`, "secrets/pull", Background, `
			deleted: secrets/pull
			cannot start again: deployments/web`},
		"a HelmRelease uninstalls": {`
			helmreleases/h prunes
			helmreleases/h: reads status.history[].name secrets/sh.helm.release.v1.h.v1
			secrets/sh.helm.release.v1.h.v1: installs data.release deployments/web`, "helmreleases/h", Background, `
			deleted: helmreleases/h
			deleted: secrets/sh.helm.release.v1.h.v1
			deleted: deployments/web`},
		"the Secret of a release is only a Secret": {`
			secrets/sh.helm.release.v1.h.v1: installs data.release deployments/web`, "secrets/sh.helm.release.v1.h.v1", Background, `
			deleted: secrets/sh.helm.release.v1.h.v1`},
		"a finalizer holds what comes after": {`
			deployments/d example.com/wait
			replicasets/r: controlled deployments/d
			pods/p: controlled replicasets/r`, "deployments/d", Background, `
			deleted: deployments/d [held example.com/wait]
			deleted: replicasets/r [held  by deployments/d]
			deleted: pods/p [held  by replicasets/r]`},
		"in the foreground, dependents go first": {`
			deployments/d example.com/wait
			replicasets/r: controlled deployments/d
			pods/p: controlled replicasets/r`, "deployments/d", Foreground, `
			deleted: deployments/d [held example.com/wait]
			deleted: replicasets/r
			deleted: pods/p`},
		"in the foreground, a dependent holds its owner": {`
			replicasets/r: controlled deployments/d
			pods/p example.com/wait
			pods/p: controlled replicasets/r`, "deployments/d", Foreground, `
			deleted: deployments/d [held  by replicasets/r]
			deleted: replicasets/r [held  by pods/p]
			deleted: pods/p [held example.com/wait]`},
		"a class of gateways": {`
			gateways/g: is_of_class spec.gatewayClassName gatewayclasses/c
			httproutes/r: attaches_to spec.parentRefs[].name gateways/g`, "gatewayclasses/c", Background, `
			deleted: gatewayclasses/c
			breaks now: gateways/g
			breaks now: httproutes/r`},
		"a Secret that a Certificate issues": {`
			certificates/c: issues spec.secretName secrets/tls
			ingresses/i: serves_with spec.tls[].secretName secrets/tls`, "secrets/tls", Background, `
			deleted: secrets/tls [again by certificates/c]
			breaks now: ingresses/i`},
		"a node takes its pods": {`
			pods/p: runs_on spec.nodeName nodes/n
			pods/later: runs_on status.nominatedNodeName nodes/n`, "nodes/n", Background, `
			deleted: nodes/n
			deleted: pods/p`},
		"references in a circle": {`
			pods/a: owned pods/b
			pods/b: owned pods/a
			configmaps/x: uses spec.ref configmaps/y
			configmaps/y: uses spec.ref configmaps/x`, "configmaps/x", Background, `
			deleted: configmaps/x
			cannot start again: configmaps/y`},
	} {
		t.Run(what, func(t *testing.T) {
			got, err := parse(t, test.graph).Of(t.Context(), key(test.object), test.policy)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.TrimSpace(strings.ReplaceAll(test.want, "\t", "")) + "\n"
			if diff := cmp.Diff(want, said(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPath: each object comes with the references that lead to the object of the question.
func TestPath(t *testing.T) {
	a, _ := parse(t, web).Of(t.Context(), key("deployments/web"), Background)
	want := map[string]string{
		"ingresses/web": "ingresses/web routes to services/web, services/web selects pods/web-1-a, pods/web-1-a or replicasets/web-1, replicasets/web-1 or deployments/web",
		"pods/web-1-a":  "pods/web-1-a or replicasets/web-1, replicasets/web-1 or deployments/web",
	}
	for _, g := range a.Groups {
		wanted, ok := want[name(g.Objects[0])]
		if !ok {
			continue
		}
		var steps []string
		for _, s := range g.Path {
			word := string(s.Type)
			if len(s.Words) > 0 {
				word = s.Words[0]
			}
			steps = append(steps, name(s.From)+" "+word+" "+name(s.To))
		}
		if diff := cmp.Diff(wanted, strings.Join(steps, ", ")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		delete(want, name(g.Objects[0]))
	}
	if len(want) > 0 {
		t.Errorf("no group for %v", want)
	}
}

// TestCounts: the counts add up to all objects.
func TestCounts(t *testing.T) {
	g := parse(t, web)
	a, _ := g.Of(t.Context(), key("configmaps/web"), Background)
	want := map[streamv1alpha1.Verdict]int{
		"unaffected": len(g.objects) - 5, "loses an optional reference": 0, "cannot start again": 4, "probably breaks": 0, "breaks now": 0, "deleted": 1,
	}
	if diff := cmp.Diff(want, a.Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if _, err := g.Of(t.Context(), key("configmaps/nope"), Background); !errors.Is(err, ErrNotFound) {
		t.Errorf("an object that does not exist: %v, want %v", err, ErrNotFound)
	}
}

func TestFactsOf(t *testing.T) {
	for what, test := range map[string]struct {
		group, kind string
		tree        map[string]any
		want        *streamv1alpha1.DeletionFacts
	}{
		"a Kustomization":              {"kustomize.toolkit.fluxcd.io", "Kustomization", map[string]any{"metadata": map[string]any{"finalizers": []any{fluxFinalizer}}, "spec": map[string]any{"prune": true}}, &streamv1alpha1.DeletionFacts{Prunes: true, Finalizers: []string{fluxFinalizer}}},
		"one without its finalizer":    {"kustomize.toolkit.fluxcd.io", "Kustomization", map[string]any{"spec": map[string]any{"prune": true}}, nil},
		"a suspended one":              {"kustomize.toolkit.fluxcd.io", "Kustomization", map[string]any{"spec": map[string]any{"prune": true, "suspend": true}}, &streamv1alpha1.DeletionFacts{Suspended: true}},
		"one that orphans":             {"kustomize.toolkit.fluxcd.io", "Kustomization", map[string]any{"spec": map[string]any{"prune": true, "deletionPolicy": "Orphan"}}, nil},
		"one that deletes":             {"kustomize.toolkit.fluxcd.io", "Kustomization", map[string]any{"metadata": map[string]any{"finalizers": []any{fluxFinalizer}}, "spec": map[string]any{"deletionPolicy": "Delete"}}, &streamv1alpha1.DeletionFacts{Prunes: true, Finalizers: []string{fluxFinalizer}}},
		"a HelmRelease":                {"helm.toolkit.fluxcd.io", "HelmRelease", map[string]any{"metadata": map[string]any{"finalizers": []any{fluxFinalizer}}}, &streamv1alpha1.DeletionFacts{Prunes: true, Finalizers: []string{fluxFinalizer}}},
		"a grant":                      {"gateway.networking.k8s.io", "ReferenceGrant", map[string]any{"spec": map[string]any{"from": []any{map[string]any{"group": "g", "kind": "HTTPRoute", "namespace": "front"}}, "to": []any{map[string]any{"group": "", "kind": "Service"}}}}, &streamv1alpha1.DeletionFacts{Grants: []streamv1alpha1.Grant{{FromGroup: "g", FromKind: "HTTPRoute", Namespace: "front", ToKind: "Service"}}}},
		"an Application":               {"argoproj.io", "Application", map[string]any{}, nil},
		"an Application with cascade":  {"argoproj.io", "Application", map[string]any{"metadata": map[string]any{"finalizers": []any{argoFinalizer + "/background"}}}, &streamv1alpha1.DeletionFacts{Prunes: true, Finalizers: []string{argoFinalizer + "/background"}}},
		"a volume":                     {"", "PersistentVolume", map[string]any{"spec": map[string]any{"persistentVolumeReclaimPolicy": "Delete"}}, &streamv1alpha1.DeletionFacts{Prunes: true}},
		"a retained volume":            {"", "PersistentVolume", map[string]any{"spec": map[string]any{"persistentVolumeReclaimPolicy": "Retain"}}, nil},
		"a finished pod":               {"", "Pod", map[string]any{"status": map[string]any{"phase": "Succeeded"}}, &streamv1alpha1.DeletionFacts{Ended: true}},
		"a pod without a node":         {"", "Pod", map[string]any{"spec": map[string]any{}, "status": map[string]any{"phase": "Pending"}}, &streamv1alpha1.DeletionFacts{Unscheduled: true}},
		"a running pod":                {"", "Pod", map[string]any{"spec": map[string]any{"nodeName": "n"}, "status": map[string]any{"phase": "Running"}}, nil},
		"an object that Flux keeps":    {"", "ConfigMap", map[string]any{"metadata": map[string]any{"annotations": map[string]any{fluxPrune: "disabled"}}}, &streamv1alpha1.DeletionFacts{Kept: true}},
		"an object that Helm keeps":    {"", "ConfigMap", map[string]any{"metadata": map[string]any{"annotations": map[string]any{helmPolicy: "keep"}}}, &streamv1alpha1.DeletionFacts{Kept: true}},
		"an object that Argo CD keeps": {"", "ConfigMap", map[string]any{"metadata": map[string]any{"annotations": map[string]any{argoSync: "Prune=false,Delete=false"}}}, &streamv1alpha1.DeletionFacts{Kept: true}},
		"fields of other types":        {"", "Pod", map[string]any{"metadata": []any{}, "spec": "x", "status": 1.0}, nil},
	} {
		t.Run(what, func(t *testing.T) {
			test.tree["kind"] = test.kind
			if diff := cmp.Diff(test.want, FactsOf(test.group, test.tree)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
