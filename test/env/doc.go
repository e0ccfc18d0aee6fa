// Package env starts a real control plane for tests and for `make run`: etcd,
// kube-apiserver and optionally kube-controller-manager, on free loopback ports with
// their own certificates. `make control-plane` compiles the programs.
//
// A package starts one for all its tests, with a Suite of test/fixture. A test that
// breaks the API server starts its own with [StartT].
//
// RBAC is on and anonymous requests get no further than the health endpoints;
// the aggregation layer is configured, and because aggregator routing is off an
// APIService may lead to a Service of type ExternalName `localhost`
// (see [ControlPlane.RegisterAPIService]). There is no scheduler and no kubelet:
// pods stay Pending. ServiceAccounts named default are made by the controller
// manager; without it a namespace has none, and no pod is admitted to it before
// [ControlPlane.CreateServiceAccount] made one.
//
// The package knows nothing of GraphView: its callers give it the manifests.
//
// # How suites keep apart
//
// The suites of two packages run at the same time, each with a control plane of its own, and
// in any order. Most could not share one: they install the operator, whose definitions,
// APIService and webhook are there once in a cluster, and two operators would write the same
// statuses; they stop or pause an API server (test/e2e, test/faults, test/hostile,
// test/integration, test/replicas), start it with other arguments (test/scenarios), count its
// requests (test/local), or compare all namespaces with a list. To start and stop one takes
// three seconds of processor time. Emptying a shared one for the next suite takes as long, and
// the suites would wait for each other.
//
// The tests of one package keep apart by namespaces of their own (Namespace of test/fixture), by users
// and ServiceAccounts of these, and by generated names of cluster-scoped objects. A test whose
// CustomResourceDefinitions, ReferenceRules or webhook concern every view does not run beside others.
//
// # Nothing is left behind
//
// Every program is killed by the kernel when this process ends, however it
// ends: a panic, a test timeout, Ctrl-C, SIGKILL (Linux: PR_SET_PDEATHSIG). That
// signal belongs to the thread that created the child, so each child has a
// goroutine that is locked to its thread until the child is gone. A temporary
// directory whose process was killed is removed by the next start.
//
// # Concurrency
//
// The methods of a ControlPlane are safe for concurrent use, except that only one of
// Stop, Run, StopAPIServer and StartAPIServer may run at a time.
package env
