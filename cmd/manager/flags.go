package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"graphview.dev/controllers/pki"
	"graphview.dev/graphview"
)

var errHelp = flag.ErrHelp

// options are the flags. Durations and counts are positive.
type options struct {
	streamAddress, certDir         string
	webhookAddress                 string
	webhookClientCA                string
	metricsAddress, healthAddress  string
	pprofAddress, check            string
	stateDir                       string
	history                        bool
	historyBytes                   int64
	historyDir                     string
	injectWebhookCA                bool
	metricsAuth                    bool
	leaderElect, dashboard         bool
	allowedOrigins                 []string
	requireServiceAccount          bool
	permissionRecheck, syncTimeout time.Duration
	maxVertices                    int
	tunnelAddress, tunnelCertDir   string
	hubName, hubURL                string
	hubCAFile, hubTokenFile        string
	clusterWait, tunnelMaxAge      time.Duration
	relations                      []graphview.Name
	zap                            zap.Options
}

// parse reads the command line. It returns errHelp after --help.
func parse(program string, args []string, out io.Writer) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet(program, flag.ContinueOnError)
	flags.SetOutput(out)
	config.RegisterFlags(flags) // --kubeconfig
	flags.StringVar(&o.streamAddress, "stream-bind-address", ":8443", "host:port of the TLS listener that serves graphs")
	flags.StringVar(&o.certDir, "stream-cert-dir", "", "directory with tls.crt and tls.key, which are read again when they change; if empty, the operator makes a self-signed certificate, shares it between replicas in the Secret "+pki.CertificatesSecret+" and renews it")
	flags.StringVar(&o.webhookAddress, "webhook-bind-address", "0", "host:port of the validating webhook, which uses the same certificate; 0 turns it off. The API server calls it only if there is a ValidatingWebhookConfiguration")
	flags.BoolVar(&o.injectWebhookCA, "inject-webhook-ca", false, "write the CA of the self-signed certificate into the ValidatingWebhookConfiguration. This needs the right to patch that object, with which a stolen token can read and refuse every write in the cluster")
	flags.StringVar(&o.webhookClientCA, "webhook-client-ca-file", "", "PEM file with the CAs of clients that may call the webhook, for API servers that send a client certificate; if empty, every client may")
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", ":8080", "host:port of Prometheus metrics; 0 turns them off")
	flags.BoolVar(&o.metricsAuth, "metrics-authentication", false, "serve metrics with TLS, and only to clients with the right to get the path /metrics")
	flags.Func("relation-metrics", "comma-separated NAMESPACE/NAME of GraphViews whose references are metrics, graphview_relation_info: names of objects, for everybody who reads the metrics. Secrets have none", o.addRelations)
	flags.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081", "host:port of /healthz and /readyz; 0 turns them off")
	flags.StringVar(&o.pprofAddress, "pprof-bind-address", "0", "host:port of Go profiles; 0 turns them off. Profiles show what is in memory, so bind them to localhost")
	flags.StringVar(&o.stateDir, "state-dir", "", "directory in which the operator remembers crashes: private to this replica, kept across container restarts. After two crashes within ten minutes it refuses expressions for ten minutes. Empty: it does not")
	flags.BoolVar(&o.history, "history", true, "keep a history of the changes of all watched objects, without their contents: which fields changed, healths and references")
	flags.Int64Var(&o.historyBytes, "history-bytes", 0, "size of the history; the oldest changes of the namespace with the most are dropped. 0 means 33554432 (32 MiB) in memory, and 268435456 (256 MiB) in --history-dir")
	flags.StringVar(&o.historyDir, "history-dir", "", "directory in which the history is kept over restarts, private to this replica; if empty, it is in memory")
	flags.StringVar(&o.check, "check", "", "check an installation as its users see it, print the result and exit, instead of serving: a comma-separated list of definitions, apiservice and webhook")
	flags.BoolVar(&o.leaderElect, "leader-elect", false, "elect the replica that writes status, by a Lease in the operator's namespace; without it, every replica writes status, so there must be one")
	flags.BoolVar(&o.dashboard, "dashboard", false, "serve the dashboard, a page that draws graphs, under /dashboard/. It shows each user only what that user may see")
	origins := flags.String("allowed-origins", "", "comma-separated host patterns of web pages on other hosts that may open WebSockets and request graphs (CORS: get, list and server-sent events, with a token)")
	flags.BoolVar(&o.requireServiceAccount, "require-service-account", inPod(), "accept only GraphViews with a serviceAccountName; such a view contains what that ServiceAccount may list and watch. If false, a view without one contains what the operator may list and watch, and its author can learn about all of it. The default is true in a Pod and false elsewhere")
	flags.DurationVar(&o.permissionRecheck, "permission-recheck", time.Minute, "how often the permissions of subscribers are checked again")
	flags.DurationVar(&o.syncTimeout, "sync-timeout", 30*time.Second, "how long a view waits for a resource; after that it is served without the resource, with a warning")
	flags.IntVar(&o.maxVertices, "max-vertices-per-view", 200_000, "maximum number of visible objects in a view; a larger view is not served")
	flags.StringVar(&o.tunnelAddress, "tunnel-bind-address", "", "host:port of the TLS listener at which the members of a fleet connect, for instance :8444; if empty, this operator is no hub")
	flags.StringVar(&o.tunnelCertDir, "tunnel-cert-dir", "", "directory with tls.crt and tls.key of that listener; if empty, it has the certificate of --stream-bind-address")
	flags.StringVar(&o.hubName, "hub-name", "", "name of the hub: the audience of its members' tokens, and part of the prefix hub:NAME: of its users and groups in each member")
	flags.DurationVar(&o.clusterWait, "cluster-wait", 20*time.Second, "how long a request waits for a member that is not connected, unless the request has a timeout of its own")
	flags.StringVar(&o.hubURL, "hub-url", "", "URL at which this operator connects to a hub as the member of a ClusterLink, wss://HOST:PORT/tunnel/v1/clusters/LINK; if empty, it is no member")
	flags.StringVar(&o.hubCAFile, "hub-ca-file", "", "PEM file with the CAs of the hub; if empty, those of the system")
	flags.StringVar(&o.hubTokenFile, "hub-token-file", "/var/run/secrets/graphview.dev/hub/token", "file with this member's ServiceAccount token for the hub, which is read for each tunnel")
	flags.DurationVar(&o.tunnelMaxAge, "tunnel-max-age", time.Hour, "longest life of a tunnel to a hub; a new one is opened before. Load balancers that cut connections at a fixed age need less")
	o.zap.BindFlags(flags)
	// An error names its subject itself. With a stack trace a refused GraphView looks like a crash.
	if err := flags.Set("zap-stacktrace-level", "panic"); err != nil {
		return nil, err
	}
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q; there are only flags, see --help", flags.Arg(0))
	}
	for origin := range strings.SplitSeq(*origins, ",") {
		if origin = strings.TrimSpace(origin); origin != "" {
			o.allowedOrigins = append(o.allowedOrigins, origin)
		}
	}
	return o, o.validate()
}

// addRelations adds the GraphViews of --relation-metrics.
func (o *options) addRelations(text string) error {
	for view := range strings.SplitSeq(text, ",") {
		namespace, name, ok := strings.Cut(strings.TrimSpace(view), "/")
		if !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
			return fmt.Errorf("%q is no NAMESPACE/NAME of a GraphView", view)
		}
		o.relations = append(o.relations, graphview.Name{Namespace: namespace, Name: name})
	}
	return nil
}

func (o *options) validate() error {
	var errs []error
	positive := func(name string, ok bool) {
		if !ok {
			errs = append(errs, fmt.Errorf("--%s must be greater than zero", name))
		}
	}
	positive("permission-recheck", o.permissionRecheck > 0)
	positive("sync-timeout", o.syncTimeout > 0)
	positive("max-vertices-per-view", o.maxVertices > 0)
	positive("cluster-wait", o.clusterWait > 0)
	positive("tunnel-max-age", o.tunnelMaxAge > 0)
	if o.historyBytes < 0 {
		errs = append(errs, errors.New("--history-bytes must not be negative"))
	}
	errs = append(errs, o.validateFleet())
	if err := checkable(o.check); err != nil {
		errs = append(errs, err)
	}
	if err := o.checkWebhookAddress(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (o *options) logger() logr.Logger { return zap.New(zap.UseFlagOptions(&o.zap)) }

// inPod reports whether the operator runs in a cluster, where the authors of GraphViews do not
// have the operator's rights.
func inPod() bool { return os.Getenv("KUBERNETES_SERVICE_HOST") != "" }

// hubNames are the names of hubs. A name is part of user names, in which a colon separates.
var hubNames = regexp.MustCompile(`^[a-z0-9]([-.a-z0-9]{0,61}[a-z0-9])?$`)

func (o *options) validateFleet() error {
	if (o.tunnelAddress != "" || o.hubURL != "") && !hubNames.MatchString(o.hubName) {
		return fmt.Errorf("--hub-name must be 1 to 63 lower-case letters, digits, hyphens and dots, not %q", o.hubName)
	}
	if u, err := url.Parse(o.hubURL); o.hubURL != "" && (err != nil || u.Scheme != "wss" || u.Host == "") {
		return fmt.Errorf("--hub-url must be wss://HOST:PORT/tunnel/v1/clusters/LINK, not %q", o.hubURL)
	}
	return nil
}
