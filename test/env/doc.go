// Package env starts a real control plane for tests and for `make run`: etcd,
// kube-apiserver and optionally kube-controller-manager, on free loopback ports with
// their own certificates. `make control-plane` compiles the programs.
//
// One control plane takes two to four seconds to start, so an integration
// package starts one for all its tests, with a Suite of test/fixture. A test that
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
// The package knows nothing of GraphView: what it installs, it is given.
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
