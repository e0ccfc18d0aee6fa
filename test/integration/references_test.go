package integration

import (
	"context"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/graphview"
	"graphview.dev/test/env"
	"graphview.dev/test/oracle"
)

// referring are objects of Kubernetes' own kinds that refer to others in ways that
// a random workload does not. NAMESPACE stands for the test's.
const referring = `
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: alias}, spec: {type: ExternalName, externalName: web.NAMESPACE.svc.cluster.local}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web-1, labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: urgent}, spec: {hard: {pods: "9"}, scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [system-node-critical]}]}}}
---
{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web}, spec: {podSelector: {matchLabels: {app: web}}, ingress: [{from: [
  {podSelector: {}}, {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAMESPACE}}, podSelector: {}},
  {namespaceSelector: {}, podSelector: {matchLabels: {app: web}}}, {namespaceSelector: {matchLabels: {team: none}}, podSelector: {}}]}]}}
---
{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web, annotations: {nginx.ingress.kubernetes.io/auth-secret: other/users}},
 spec: {ingressClassName: nginx, defaultBackend: {service: {name: web, port: {number: 80}}}, tls: [{secretName: web-tls}]}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: all}, spec: {maxUnavailable: 1, selector: {}}}
---
{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: reader}, rules: [{apiGroups: ["", apps], resources: [secrets, configmaps, deployments], resourceNames: [web-tls, web], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: reader}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}, subjects: [{kind: ServiceAccount, name: default}, {kind: User, name: alice, apiGroup: rbac.authorization.k8s.io}]}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, annotations: {volume.kubernetes.io/selected-node: node-1, volume.kubernetes.io/storage-provisioner: csi.example.com}}, spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 1Gi}}}}
---
{apiVersion: batch/v1, kind: CronJob, metadata: {name: nightly}, spec: {schedule: "0 0 * * *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, serviceAccountName: default, containers: [{name: c, image: c, envFrom: [{configMapRef: {name: web}}]}]}}}}}}
---
{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: leader}, spec: {holderIdentity: web-1}}
---
{apiVersion: v1, kind: Secret, metadata: {name: token, annotations: {kubernetes.io/service-account.name: default}}, type: kubernetes.io/service-account-token}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, addressType: IPv4, metadata: {name: mine, labels: {kubernetes.io/service-name: web}}, endpoints: [{addresses: [10.0.0.9], nodeName: node-1, targetRef: {kind: Pod, name: web-1, namespace: NAMESPACE}}]}
`

// TestReferencesEqualOracle compares the arcs of Kubernetes' own kinds with the oracle's. It
// includes the objects that a server creates itself.
func TestReferencesEqualOracle(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	apply(t, c, namespace, referring)
	v := oracle.View{
		Queries: []oracle.Query{
			{Exclude: &oracle.Exclude{ResourceSelectorExpression: "resource in ['events', 'componentstatuses']"}},
			{Include: &oracle.Include{ResourceSelectorExpression: "group == '' || group.endsWith('.k8s.io') || group in ['apps', 'batch', 'policy', 'autoscaling']"}},
		},
		Namespaces: &oracle.Namespaces{Names: []string{namespace, "kube-system", "kube-public", "default"}},
	}
	engine := runEngine(t, graphview.Options{})
	view := mustApply(t, engine, "everything", v)
	ctx, stop := context.WithCancel(t.Context())
	follower := follow(ctx, view)
	eventually(t, 60*time.Second, func() string {
		want, err := oracle.Build(t.Context(), cluster.Config(), v)
		if err != nil {
			t.Fatal(err)
		}
		return follower.Differs(want)
	})
	stop()
	<-follower.done
}

// apply creates the objects of a text in a namespace.
func apply(t *testing.T, c client.Client, namespace, text string) {
	t.Helper()
	objects, err := env.Objects(strings.ReplaceAll(text, "NAMESPACE", namespace))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		o.SetNamespace(namespace)
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatalf("create %s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
}
