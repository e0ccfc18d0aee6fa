package main

import (
	"context"
	"fmt"

	"graphview.dev/test/bench/load"
	"graphview.dev/test/env"
	"graphview.dev/test/must"
)

const (
	namespaces = 10
	// podsEach is how many pods an application has, perApplication how many objects: these, a
	// Deployment, a ReplicaSet, a Service, a ConfigMap, a Secret and a ServiceAccount.
	podsEach       = 4
	perApplication = podsEach + 6
)

func namespaceOf(i int) string { return fmt.Sprintf("team-%d", i) }

var (
	// viewer has rules of the ClusterRole view, which has none without controllers.
	viewer = load.Parse(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: viewer}
rules:
- apiGroups: [""]
  resources: [pods, services, configmaps, serviceaccounts, endpoints, persistentvolumeclaims, replicationcontrollers]
  verbs: [get, list, watch]
- apiGroups: [apps, batch, autoscaling, networking.k8s.io, policy, discovery.k8s.io]
  resources: ["*"]
  verbs: [get, list, watch]
`)
	namespace = load.Parse("{apiVersion: v1, kind: Namespace, metadata: {name: {{.}}}}")
	binding   = load.Parse(`apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: two, namespace: {{.}}}
subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: two}]
roleRef: {kind: ClusterRole, apiGroup: rbac.authorization.k8s.io, name: viewer}
`)
	// applicationObjects include the ones of controllers, but for the pods.
	applicationObjects = load.Parse("{apiVersion: v1, kind: ServiceAccount, metadata: {" + meta + `}}
---
{apiVersion: v1, kind: ConfigMap, data: {colour: red}, metadata: {` + meta + `}}
---
{apiVersion: v1, kind: Secret, stringData: {password: sample-only}, metadata: {` + meta + `}}
---
{apiVersion: v1, kind: Service, spec: {clusterIP: None, selector: ` + labels + `, ports: [{port: 80}]}, metadata: {` + meta + `}}
---
{apiVersion: apps/v1, kind: Deployment, spec: ` + workload + `, metadata: {` + meta + `}}
---
{apiVersion: apps/v1, kind: ReplicaSet, spec: ` + workload + ", metadata: {" + meta + `,
 ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: {{.Name}}, uid: {{.UID "Deployment"}}, controller: true}]}}`)
	pod = load.Parse("{apiVersion: v1, kind: Pod, spec: " + podSpec + `, metadata: {namespace: {{.Namespace}}, name: {{.Name}}-{{.Pod}}, labels: ` + labels + `,
 ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: {{.Name}}, uid: {{.UID "ReplicaSet"}}, controller: true}]}}`)
)

// Parts of the templates of an application.
const (
	labels  = "{app.kubernetes.io/name: {{.Name}}}"
	meta    = "namespace: {{.Namespace}}, name: {{.Name}}, labels: " + labels
	podSpec = "{serviceAccountName: {{.Name}}, automountServiceAccountToken: false, containers: [{name: main, image: 'example.com/web:1.2.3', " +
		"envFrom: [{configMapRef: {name: {{.Name}}}}, {secretRef: {name: {{.Name}}}}]}]}"
	workload = "{selector: {matchLabels: " + labels + "}, template: {metadata: {labels: " + labels + "}, spec: " + podSpec + "}}"
)

// application is what the templates of its objects see.
type application struct {
	*load.Scope

	Namespace, Name string
	Pod             int
}

// furnish makes the namespaces with their applications, and the rights of the user two.
func furnish(ctx context.Context, plane *env.ControlPlane, objects int) {
	m, scope := must.Get(load.NewMaker(plane.Config())), load.NewScope(0)
	must.Do(m.Create(ctx, viewer, nil, scope))
	for i := range namespaces {
		must.Do(m.Create(ctx, namespace, namespaceOf(i), scope))
		if i < 2 {
			must.Do(m.Create(ctx, binding, namespaceOf(i), scope))
		}
	}
	must.Do(load.Each(ctx, objects/perApplication, func(ctx context.Context, i int) error {
		a := &application{Scope: load.NewScope(i), Namespace: namespaceOf(i % namespaces), Name: fmt.Sprintf("app-%04d", i)}
		if err := m.Create(ctx, applicationObjects, a, a.Scope); err != nil {
			return err
		}
		for a.Pod = range podsEach {
			if err := m.Create(ctx, pod, a, a.Scope); err != nil {
				return err
			}
		}
		return nil
	}))
}
