package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"time"

	"graphview.dev/test/document"
	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/must"
	"graphview.dev/test/network"
	"graphview.dev/test/operator"
)

func main() { must.Main("fleet", run) }

// link is the name of the member at the hub.
const link = "eu-1"

// patience bounds each wait.
const patience = 5 * time.Minute

// bench is one run.
type bench struct {
	subscribers, rate, rounds int
	during                    time.Duration
	encoding                  string

	hubPlane, memberPlane *env.ControlPlane
	hub                   *operator.Hub
	member                *operator.Operator
	tunnel                *network.Path // between member and hub
	direct                *network.Path // in front of the member's own port
	table                 document.Text
}

func run(ctx context.Context) {
	b := &bench{}
	manager := flag.String("manager", "", "the binary of the operator; empty: it is compiled")
	parts := flag.String("parts", "crowd,users,first", "what to measure: a crowd of one user, one of many users, a first graph")
	flag.IntVar(&b.subscribers, "subscribers", 300, "how many subscribers there are at a time")
	flag.IntVar(&b.rate, "rate", 200, "how many changes a second there are in the member")
	flag.DurationVar(&b.during, "for", 30*time.Second, "how long each row of a crowd takes")
	flag.IntVar(&b.rounds, "rounds", 3, "how often the first graph is read; the table has the median")
	flag.StringVar(&b.encoding, "accept-encoding", "identity", "what subscribers send as Accept-Encoding")
	flag.Parse()
	root := must.Get(env.ModuleRoot())
	if *manager == "" {
		*manager = must.Get(fixture.Build(ctx, root, "manager"))
	}
	o := env.Options{APIServerArgs: env.Unlimited}
	b.hubPlane = must.Get(env.Start(ctx, o))
	defer must.End(b.hubPlane.Stop)
	b.memberPlane = must.Get(env.Start(ctx, o))
	defer must.End(b.memberPlane.Stop)
	b.start(ctx, root, *manager)
	defer b.hub.Close()
	defer b.tunnel.Close()
	defer b.direct.Close()
	for _, part := range []struct {
		name    string
		measure func(context.Context)
	}{{"crowd", b.crowd}, {"users", b.users}, {"first", b.first}} {
		if strings.Contains(","+*parts+",", ","+part.name+",") {
			part.measure(ctx)
		}
	}
}

// start starts the operators, which end with their control planes.
func (b *bench) start(ctx context.Context, root, manager string) {
	for _, plane := range []*env.ControlPlane{b.hubPlane, b.memberPlane} {
		must.Do(operator.Install(ctx, plane, root))
	}
	b.hub = must.Get(operator.StartSingleHub(b.hubPlane, operator.Options{Binary: manager, Name: "hub"}))
	b.tunnel = must.Get(network.NewPath(b.hub.Tunnels()...))
	b.member = must.Get(b.hub.Join(ctx, link, "Europe", b.memberPlane, operator.Options{
		Binary: manager, Name: "member", Args: []string{"--hub-url=" + operator.MemberURL(b.tunnel.Address(), link)},
	}))
	b.direct = must.Get(network.NewPath(strings.Replace(strings.TrimPrefix(b.member.URL(), "https://"), "localhost", "127.0.0.1", 1)))
	apply(ctx, b.hubPlane, hubRights)
	apply(ctx, b.memberPlane, memberObjects)
	must.Get(b.hubPlane.Kubectl(ctx, "wait", "--for=condition=Connected", "clusterlink/"+link, "--timeout=90s"))
}

// apply applies a manifest.
func apply(ctx context.Context, plane *env.ControlPlane, manifest string) {
	file := filepath.Join(plane.Dir(), "bench.yaml")
	must.Do(os.WriteFile(file, []byte(manifest), 0o600))
	must.Get(plane.Kubectl(ctx, "apply", "-f", file))
}

// crowdGroup is the group of all subscribers.
const crowdGroup = "crowd"

const hubRights = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: crowd}
rules: [{apiGroups: [stream.graphview.dev], resources: [clusters/proxy], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: crowd}
subjects: [{kind: Group, apiGroup: rbac.authorization.k8s.io, name: crowd}]
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: crowd}
`

const memberObjects = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: crowd}
rules:
- {apiGroups: [stream.graphview.dev], resources: [graphs], verbs: [get, list, watch]}
- {apiGroups: [""], resources: [configmaps], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: crowd}
subjects:
- {kind: Group, apiGroup: rbac.authorization.k8s.io, name: crowd}
- {kind: Group, apiGroup: rbac.authorization.k8s.io, name: "hub:local:crowd"}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: crowd}
---
apiVersion: v1
kind: Namespace
metadata: {name: small}
---
apiVersion: v1
kind: Namespace
metadata: {name: large}
---
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: view, namespace: small}
spec:
  namespaces: {names: [small]}
  queries: [{include: {resourceSelectorExpression: "group == '' && resource == 'configmaps'"}}]
---
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: view, namespace: large}
spec:
  namespaces: {names: [large]}
  queries: [{include: {resourceSelectorExpression: "group == '' && resource == 'configmaps'"}}]
`
