package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"graphview.dev/controllers"
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
	injectWebhookCA                bool
	metricsAuth                    bool
	leaderElect, dashboard         bool
	allowedOrigins                 []string
	requireServiceAccount          bool
	permissionRecheck, syncTimeout time.Duration
	maxVertices                    int
	zap                            zap.Options
}

// parse reads the command line. It returns errHelp after --help.
func parse(program string, args []string, out io.Writer) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet(program, flag.ContinueOnError)
	flags.SetOutput(out)
	config.RegisterFlags(flags) // --kubeconfig
	flags.StringVar(&o.streamAddress, "stream-bind-address", ":8443", "host:port on which graphs are served with TLS")
	flags.StringVar(&o.certDir, "stream-cert-dir", "", "directory with tls.crt and tls.key, which are read again when they change; empty: a self-signed certificate, made at start, shared by the replicas in the Secret "+controllers.CertificatesSecret+" and renewed in time")
	flags.StringVar(&o.webhookAddress, "webhook-bind-address", "0", "host:port on which GraphViews are validated for the API server, with the same certificate; 0 turns it off: without a ValidatingWebhookConfiguration nobody calls")
	flags.BoolVar(&o.injectWebhookCA, "inject-webhook-ca", false, "write the authority of the self-signed certificate into the ValidatingWebhookConfiguration; it takes the right to patch that, with which a stolen token can read and refuse every write of the cluster")
	flags.StringVar(&o.webhookClientCA, "webhook-client-ca-file", "", "file with the certificates, in PEM, of who may ask the webhook, for API servers that are configured to send a client certificate; empty: everybody")
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", ":8080", "host:port of Prometheus metrics; 0 turns them off")
	flags.BoolVar(&o.metricsAuth, "metrics-authentication", false, "serve metrics with TLS, and only to who may get the path /metrics")
	flags.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081", "host:port of /healthz and /readyz; 0 turns them off")
	flags.StringVar(&o.pprofAddress, "pprof-bind-address", "0", "host:port of Go's profiles, which tell what is in memory: bind it to localhost; 0 turns them off")
	flags.StringVar(&o.stateDir, "state-dir", "", "directory of this replica alone that outlives its container, where is noted what is being done for users: what ended the operator is refused after that, until it changes; empty: nothing is noted")
	flags.StringVar(&o.check, "check", "", "do not serve: look at an installation as its users do, at what is named here of definitions, apiservice and webhook, separated by commas, say what was found, and end")
	flags.BoolVar(&o.leaderElect, "leader-elect", false, "elect one replica, which alone writes status")
	flags.BoolVar(&o.dashboard, "dashboard", false, "serve the dashboard, a page that draws graphs, under /dashboard/ beside them; who may see what is asked as ever")
	origins := flags.String("allowed-origins", "", "comma-separated host patterns of web pages, beside those of the same host, that may open WebSockets and ask for graphs (CORS: get, list and server-sent events, with a token)")
	flags.BoolVar(&o.requireServiceAccount, "require-service-account", inPod(), "true in a Pod unless said otherwise, else false: accept only GraphViews with a serviceAccountName, which contain what that ServiceAccount may list and watch; false: the others contain what the operator may, and tell their authors about it")
	flags.DurationVar(&o.permissionRecheck, "permission-recheck", time.Minute, "how often permissions are checked again")
	flags.DurationVar(&o.syncTimeout, "sync-timeout", 30*time.Second, "how long a view waits for a resource before it is served without it, with a warning")
	flags.IntVar(&o.maxVertices, "max-vertices-per-view", 200_000, "visible vertices beyond which a view is not served")
	o.zap.BindFlags(flags)
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
	if err := checkable(o.check); err != nil {
		errs = append(errs, err)
	}
	if _, _, err := o.webhookPort(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (o *options) logger() logr.Logger { return zap.New(zap.UseFlagOptions(&o.zap)) }

// inPod tells whether the operator runs in a cluster, where those who write GraphViews
// are not those who lend it their rights.
func inPod() bool { return os.Getenv("KUBERNETES_SERVICE_HOST") != "" }
