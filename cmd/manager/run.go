package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers"
	"graphview.dev/graphview"
	"graphview.dev/stream"
)

// shutdownTimeout is how long streams may take to say goodbye.
const shutdownTimeout = 15 * time.Second

// run wires the rooms together and returns when all of them have ended.
func run(ctx context.Context, o *options) error {
	log := ctrl.Log
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the API server: %w", err)
	}
	config.UserAgent = "graphview/" + version

	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, apiregistrationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return fmt.Errorf("scheme: %w", err)
		}
	}
	timeout := shutdownTimeout
	mgr, err := ctrl.NewManager(config, manager.Options{
		Scheme:                        scheme,
		Logger:                        log,
		Cache:                         cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
		Metrics:                       metricsserver.Options{BindAddress: o.metricsAddress},
		HealthProbeBindAddress:        o.healthAddress,
		LeaderElection:                o.leaderElect,
		LeaderElectionID:              "graphview-manager.graphview.dev",
		LeaderElectionNamespace:       namespaceForElection(),
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       &timeout,
	})
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}

	permit, err := controllers.NewPermit(config, o.permissionRecheck)
	if err != nil {
		return fmt.Errorf("permissions: %w", err)
	}
	notifier := &controllers.Notifier{}
	engine, err := graphview.NewEngine(graphview.Options{
		Config:         config,
		Logger:         log.WithName("graphview"),
		SyncTimeout:    o.syncTimeout,
		MaxVertices:    o.maxVertices,
		Notify:         notifier.Notify,
		Permit:         permit.Allowed,
		PermitInterval: o.permissionRecheck,
	})
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	server, err := stream.New(stream.Options{
		Config:         config,
		Graphs:         stream.Of(engine),
		BindAddress:    o.streamAddress,
		CertDir:        o.certDir,
		ServerNames:    []string{controllers.ServiceName + "." + namespace() + ".svc"},
		AllowedOrigins: o.allowedOrigins,
		SyncTimeout:    o.syncTimeout,
		Version:        semantic(version),
		Logger:         log.WithName("stream"),
	})
	if err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	reconciler := controllers.NewGraphViewReconciler(engine, notifier, controllers.Options{RequireServiceAccount: o.requireServiceAccount})
	if err := reconciler.SetupWithManager(ctx, mgr); err != nil {
		return err
	}
	runnables := []manager.Runnable{everyReplica(engine.Run), everyReplica(server.Run)}
	if o.certDir == "" {
		trust := controllers.NewTrust(mgr.GetAPIReader(), mgr.GetClient(), server.CABundle())
		runnables = append(runnables, everyReplica(trust.Run))
	}
	for _, r := range runnables {
		if err := mgr.Add(r); err != nil {
			return fmt.Errorf("add to the manager: %w", err)
		}
	}
	for name, add := range map[string]func(string, healthz.Checker) error{"healthz": mgr.AddHealthzCheck, "readyz": mgr.AddReadyzCheck} {
		if err := add(name, healthz.Ping); err != nil {
			return fmt.Errorf("health: %w", err)
		}
	}
	log.Info("Serving graphs", "address", server.Addr().String(), "version", version)
	return mgr.Start(ctx)
}

// everyReplica runs whether this replica is elected or not.
type everyReplica func(context.Context) error

func (f everyReplica) Start(ctx context.Context) error { return f(ctx) }

func (everyReplica) NeedLeaderElection() bool { return false }

// namespace is where the operator runs: that of its ServiceAccount in a pod.
func namespace() string {
	text, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	if err != nil {
		return "graphview-system"
	}
	return strings.TrimSpace(string(text))
}

// namespaceForElection is left to controller-runtime in a pod.
func namespaceForElection() string {
	if _, err := os.Stat("/var/run/secrets/kubernetes.io/serviceaccount/namespace"); err == nil {
		return ""
	}
	return namespace()
}

// semantic is the version as /version has to say it.
func semantic(version string) string {
	if strings.HasPrefix(version, "v") {
		return version
	}
	return "v0.0.0-" + version
}
