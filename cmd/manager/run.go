package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	controllerconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers"
	"graphview.dev/graphview"
	"graphview.dev/stream"
)

// shutdownTimeout is the time in which all parts must end; streams send a last message.
const shutdownTimeout = 20 * time.Second

// cacheSyncTimeout is the wait of a controller for its caches at the start. It is long:
// while the API server is unavailable, ending the process would not help.
const cacheSyncTimeout = 365 * 24 * time.Hour

// restConfig returns the configuration for requests to the API server.
func restConfig() (*rest.Config, error) {
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("find the API server: %w", err)
	}
	config.UserAgent = "graphview/" + version
	return config, nil
}

// run starts the engine, the controllers and the servers, and returns when all of them have ended.
func run(ctx context.Context, o *options) error {
	log := ctrl.Log
	if err := checkNamespace(namespace()); err != nil {
		return err
	}
	config, err := restConfig()
	if err != nil {
		return err
	}
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	certificates, err := newCertificates(o, config, scheme)
	if err != nil {
		return err
	}
	guard, err := newWebhookGuard(config, scheme)
	if err != nil {
		return err
	}
	mgr, err := newManager(o, config, scheme)
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	refuseUntil, closeCrashes := watchCrashes(o.stateDir, log)
	defer closeCrashes()
	notifier := &controllers.Notifier{}
	changes, closeHistory, err := openHistory(o, log)
	if err != nil {
		return err
	}
	defer closeHistory()
	engine, err := graphview.NewEngine(graphview.Options{
		Config:         config,
		Logger:         log.WithName("graphview"),
		SyncTimeout:    o.syncTimeout,
		MaxVertices:    o.maxVertices,
		Notify:         notifier.Notify,
		RightsInterval: o.permissionRecheck,
		RefuseUntil:    refuseUntil,
		History:        changes,
		Relations:      o.relations,
		Registerer:     metrics.Registry,
	})
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	tuneCollector(engine.Relieve)
	election, err := newElection(o, config, engine.RunID())
	if err != nil {
		return fmt.Errorf("election of the writer of status: %w", err)
	}
	accept := controllers.Options{
		RequireServiceAccount: o.requireServiceAccount, Served: engine.Served, MayListNamespaces: engine.MayListNamespaces, Turn: engine.Turn, Election: election,
	}
	rules := controllers.NewReferenceRuleReconciler(engine, accept)
	accept.RulesKnown = rules.Known()
	reconciler := controllers.NewGraphViewReconciler(engine, notifier, accept)
	fleet, err := newFleetHub(o, config, certificates, engine.RunID())
	if err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	server, err := newServer(o, stream.Options{
		Config: config, Ledger: engine.Ledger(), Cluster: stream.Of(engine), Fleet: fleet.fleet(),
		Known: reconciler.Known(), Ineffective: controllers.Ineffective(ctx, mgr.GetClient()),
		GetCertificate: certificates.get, Logger: log.WithName("stream"),
	})
	if err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	if err := errors.Join(reconciler.SetupWithManager(ctx, mgr), rules.SetupWithManager(mgr)); err != nil {
		return err
	}
	serve, err := withMember(o, engine.RunID(), server, reconciler.Known())
	if err != nil {
		return fmt.Errorf("member: %w", err)
	}
	runnables := []manager.RunnableFunc{stream.Outliving(engine.Run, serve), certificates.run, guard.Run}
	if fleet != nil {
		runnables = append(runnables, fleet.run)
		if err := controllers.NewClusterLinkReconciler(fleet, fleet.notifier, accept).SetupWithManager(mgr); err != nil {
			return err
		}
	}
	if election != nil {
		runnables = append(runnables, election.Run)
	}
	checks := newProbes(ctx, engine, reconciler.Known(), fleet.linksKnown())
	if err := errors.Join(
		addAll(mgr, runnables),
		registerMetrics(guard, certificates.kept, election),
		serveWebhook(mgr, o, certificates, accept),
		checks.serve(mgr, o.healthAddress),
		serveMetrics(mgr, o, config, certificates),
	); err != nil {
		return err
	}
	log.Info("Serving graphs", "address", server.Addr().String(), "version", version)
	return mgr.Start(ctx)
}

// newServer returns the stream server, with the options that flags set.
func newServer(o *options, with stream.Options) (*stream.Server, error) {
	pages, err := o.pages()
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	with.BindAddress, with.AllowedOrigins, with.SyncTimeout = o.streamAddress, o.allowedOrigins, o.syncTimeout
	with.ClusterWait = o.clusterWait
	with.PermissionRecheck, with.Registerer = o.permissionRecheck, metrics.Registry
	with.Pages, with.Version = pages, semantic(version)
	return stream.New(with)
}

func addAll(mgr manager.Manager, runnables []manager.RunnableFunc) error {
	for _, r := range runnables {
		if err := mgr.Add(r); err != nil {
			return fmt.Errorf("add to the manager: %w", err)
		}
	}
	return nil
}

func newManager(o *options, config *rest.Config, scheme *runtime.Scheme) (manager.Manager, error) {
	timeout := shutdownTimeout
	return ctrl.NewManager(config, manager.Options{
		Scheme:                  scheme,
		Logger:                  ctrl.Log,
		Cache:                   controllers.CacheOptions(),
		Metrics:                 metricsserver.Options{BindAddress: "0"}, // see serveMetrics
		HealthProbeBindAddress:  "0",                                     // see probes
		PprofBindAddress:        o.pprofAddress,
		Controller:              controllerconfig.Controller{CacheSyncTimeout: cacheSyncTimeout},
		GracefulShutdownTimeout: &timeout,
	})
}

// newScheme returns the scheme with the Go types that the operator reads and writes.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, apiregistrationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("scheme: %w", err)
		}
	}
	return scheme, nil
}

// namespace returns the namespace of the operator: in a pod, the namespace of its ServiceAccount.
func namespace() string {
	text, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	if err != nil {
		return "graphview-system"
	}
	return strings.TrimSpace(string(text))
}

// checkNamespace refuses the cluster's own namespaces: the operator may write Leases
// and Events in its namespace, and its token must not be beside those of the control
// plane.
func checkNamespace(name string) error {
	if strings.HasPrefix(name, "kube-") {
		return fmt.Errorf("the operator does not run in %s, where the cluster keeps its own: install it into a namespace of its own, such as graphview-system", name)
	}
	return nil
}

// semantic returns a semantic version, which /version must have.
func semantic(version string) string {
	if strings.HasPrefix(version, "v") {
		return version
	}
	return "v0.0.0-" + version
}
