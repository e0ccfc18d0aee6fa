package integration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/graphview"
	"graphview.dev/test/oracle"
)

// running is an application that Kubernetes' own controllers complete.
const running = `
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, selector: {matchLabels: {app: web}},
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}}}
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {serviceName: web, selector: {matchLabels: {app: db}},
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: db, volumeMounts: [{name: data, mountPath: /data}]}]}},
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}}
---
{apiVersion: batch/v1, kind: CronJob, metadata: {name: tick}, spec: {schedule: "* * * * *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}}}}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot}}
---
{apiVersion: v1, kind: Secret, metadata: {name: token, annotations: {kubernetes.io/service-account.name: robot}}, type: kubernetes.io/service-account-token}
`

// madeByControllers are arcs of that application, of what controllers made of it.
var madeByControllers = []string{
	"replicasets -or-> deployments",
	"pods -r-> nodes spec.nodeName",
	"pods -or-> replicasets",
	"pods -or-> statefulsets",
	"pods -or-> jobs",
	"jobs -or-> cronjobs",
	"cronjobs -r-> jobs status.active[]",
	"controllerrevisions -or-> statefulsets",
	"pods -r-> persistentvolumeclaims spec.volumes[].persistentVolumeClaim.claimName",
	"pods -r-> configmaps spec.volumes[].projected.sources[].configMap.name",
	"pods -r-> serviceaccounts spec.serviceAccountName",
	"services -r-> pods spec.selector",
	"endpointslices -or-> services",
	"endpointslices -r-> pods endpoints[].targetRef",
	"endpoints -r-> services metadata.name",
	"endpoints -r-> pods subsets[].addresses[].targetRef",
	"secrets -r-> serviceaccounts metadata.annotations['kubernetes.io/service-account.name']",
}

// TestReferencesOfControllers: what Kubernetes' controllers make refers to what they
// made it of, and all of it as the oracle reads it.
func TestReferencesOfControllers(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	namespace := newNamespace(t, c)
	apply(t, c, namespace, running)
	v := oracle.View{
		Queries: []oracle.Query{{Include: &oracle.Include{
			ResourceSelectorExpression: "(namespaced || resource == 'nodes') && resource != 'events' && group in ['', 'apps', 'batch', 'discovery.k8s.io']",
		}}},
		Namespaces: &oracle.Namespaces{Names: []string{namespace}},
	}
	engine := runEngine(t, graphview.Options{})
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	create(t, c, node)
	ctx, stop := context.WithCancel(t.Context())
	f := follow(ctx, mustApply(t, engine, "made", v))
	defer func() { stop(); <-f.done }()
	// A CronJob's first Job comes with the next minute.
	eventually(t, 100*time.Second, func() string {
		run(t, c, namespace, node.Name)
		want, err := oracle.Build(t.Context(), cluster.Config(), v)
		if err != nil {
			t.Fatal(err)
		}
		missing := slices.DeleteFunc(slices.Clone(madeByControllers), func(arc string) bool { return f.kindsOfArcs()[arc] })
		if len(missing) > 0 {
			return fmt.Sprintf("no arcs %s, of\n%s", strings.Join(missing, ", "), strings.Join(slices.Sorted(maps.Keys(f.kindsOfArcs())), "\n"))
		}
		return f.Differs(want)
	})
}

// run has the pods of a namespace run on a node, as scheduler and kubelet would:
// controllers wait for their addresses.
func run(t *testing.T, c client.Client, namespace, node string) {
	t.Helper()
	var pods corev1.PodList
	if err := c.List(t.Context(), &pods, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Status.PodIP != "" {
			continue
		}
		binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node}}
		if err := c.SubResource("binding").Create(t.Context(), pod, binding); client.IgnoreNotFound(err) != nil {
			t.Logf("pod %s is tried again: %v", pod.Name, err)
		}
		address := fmt.Sprintf("10.9.0.%d", i+1)
		pod.Status.Phase, pod.Status.PodIP, pod.Status.PodIPs = corev1.PodRunning, address, []corev1.PodIP{{IP: address}}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		pod.ResourceVersion = "" // which the binding has changed
		if err := c.Status().Update(t.Context(), pod); client.IgnoreNotFound(err) != nil {
			t.Logf("pod %s is tried again: %v", pod.Name, err)
		}
	}
}

// kindsOfArcs returns the resources, types and fields of all arcs whose target exists.
func (f *graphFollower) kindsOfArcs() map[string]bool {
	out := map[string]bool{}
	f.Look(func(c *oracle.Client) {
		for key, attributes := range c.Graph().Arcs {
			if attributes.Missing {
				continue
			}
			arc := fmt.Sprintf("%s -%s-> %s", key.From.Resource, key.Type, key.To.Resource)
			if len(attributes.Fields) == 0 {
				out[arc] = true
			}
			for _, field := range attributes.Fields {
				out[arc+" "+field] = true
			}
		}
	})
	return out
}
