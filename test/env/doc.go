// Package env starts a real control plane for tests and for `make run`: etcd,
// kube-apiserver and optionally kube-controller-manager, on free loopback ports with
// their own certificates. `make control-plane` compiles the programs.
//
// A package starts one for all its tests, with a Suite of test/fixture. A test that
// breaks the API server starts its own with [StartT].
//
// RBAC is on, and anonymous requests may read the health endpoints alone.
// The aggregation layer is configured. Aggregator routing is off, so that an
// APIService may name a Service of type ExternalName `localhost`
// (see [ControlPlane.RegisterAPIService]). There is no scheduler and no kubelet:
// pods stay Pending. The controller manager creates the ServiceAccounts named default;
// without it a namespace has none, and admits no pod before
// [ControlPlane.CreateServiceAccount] has created one.
//
// The package knows nothing of GraphView: its callers give it the manifests.
//
// # Isolation of suites
//
// The suites of two packages run at the same time, each with a separate control plane, and
// in any order. Most could not share one: they install the operator, whose definitions,
// APIService and webhook exist once in a cluster, and two operators would write the same
// statuses; they stop or pause an API server (test/e2e, test/faults, test/hostile,
// test/integration, test/replicas), start it with other arguments (test/scenarios), count its
// requests (test/local), or compare all namespaces with a list. To start and stop one takes
// 2.3 seconds of processor time, and an idle one a sixtieth of a processor, with all
// controllers. Emptying a shared one for the next suite takes as long as a start, and the
// suites would wait for each other.
//
// The tests of one package use separate namespaces (Namespace of test/fixture), users
// and ServiceAccounts, and generated names for cluster-scoped objects. A test whose
// CustomResourceDefinitions, ReferenceRules or webhook affect every view does not run beside others.
//
// # Cleaning up
//
// The kernel kills every program when this process ends, also by
// a panic, a test timeout, Ctrl-C or SIGKILL (Linux: PR_SET_PDEATHSIG). That
// signal belongs to the thread that created the child, so each child has a
// goroutine that is locked to its thread until the child has ended. The next start removes
// the temporary directory of a process that was killed.
//
// # Concurrency
//
// The methods of a ControlPlane are safe for concurrent use, except that only one of
// Stop, Run, StopAPIServer and StartAPIServer may run at a time.
package env
