package command

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"graphview.dev/client"
	"graphview.dev/cmd/kubectl-graphview/internal/local"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/printable"
)

// The first and last minor version of Kubernetes that tests run on; see docs/operations.md. The chart
// refuses older ones too.
var oldestKubernetes, newestKubernetes = utilversion.MustParseGeneric("1.33"), utilversion.MustParseGeneric("1.36")

// The remedies for a user that lacks a right.
const (
	askAdministrator = "have an administrator create the namespace and apply config/rbac, and install the chart with rbac.create=false and serviceAccount.create=false"
	askAdmin         = "ask for the role admin in the namespace"
)

// chosen stands for the namespace of the installation.
const chosen = "."

// needed are the rights that an installation takes, with the remedy if the user lacks one. A role that grants more
// than its author has takes the verb escalate, and a binding of it takes bind.
var needed = []struct {
	verb      string
	resource  schema.GroupResource
	namespace string // empty: in all of the cluster
	remedy    string
}{
	{"create", schema.GroupResource{Resource: "namespaces"}, "", "ask for the namespace graphview-system"},
	{"create", schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}, "", "have an administrator apply config/crd, and install the chart with crds.install=false"},
	{"create", schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "clusterroles"}, "", askAdministrator},
	{"escalate", schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "clusterroles"}, "", askAdministrator},
	{"bind", schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "clusterroles"}, "", askAdministrator},
	{"create", schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "clusterrolebindings"}, "", askAdministrator},
	{"create", schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "rolebindings"}, metav1.NamespaceSystem, askAdministrator},
	{"create", schema.GroupResource{Group: "apiregistration.k8s.io", Resource: "apiservices"}, "", "install the chart with apiService.enabled=false; clients then use the operator's own port"},
	{"create", schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "roles"}, chosen, askAdmin},
	{"create", schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "rolebindings"}, chosen, askAdmin},
	{"create", schema.GroupResource{Resource: "serviceaccounts"}, chosen, askAdmin},
	{"create", schema.GroupResource{Resource: "secrets"}, chosen, askAdmin},
	{"create", schema.GroupResource{Resource: "services"}, chosen, askAdmin},
	{"create", schema.GroupResource{Group: "apps", Resource: "deployments"}, chosen, askAdmin},
	{"create", schema.GroupResource{Group: "policy", Resource: "poddisruptionbudgets"}, chosen, askAdmin},
}

// preflight collects the results of the checks before an installation.
type preflight struct {
	cli    *cli
	config *rest.Config
	failed bool
}

func (c *cli) check() *cobra.Command {
	var before bool
	namespace := "graphview-system"
	cmd := &cobra.Command{
		Use:   "check --pre",
		Short: "Check whether the operator can be installed",
		Long: `Check whether you can install the operator in the cluster of your kubeconfig: the version of
Kubernetes, your rights, the aggregation of APIs, and what is installed already. It only reads.
The exit code is 1 if something has to be done first.`,
		Example: `  kubectl graphview check --pre
  kubectl graphview check --pre --install-namespace monitoring`,
		Args: between(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !before {
				return c.correct(usagef(cmd, "check is for --pre, before an installation; afterwards see problems and describe"), cmd, []string{"--pre"})
			}
			config, err := c.config.ToRESTConfig()
			if err != nil {
				return err
			}
			p := &preflight{cli: c, config: config}
			if err := p.run(cmd.Context(), namespace); err != nil {
				return err
			}
			if p.failed {
				return errFound
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&before, "pre", false, "Check before an installation")
	cmd.Flags().StringVar(&namespace, "install-namespace", namespace, "The namespace in which the operator is to run")
	return cmd
}

func (p *preflight) run(ctx context.Context, namespace string) error {
	if err := p.kubernetes(); err != nil {
		return err
	}
	if err := p.rights(ctx, namespace); err != nil {
		return err
	}
	p.aggregation(ctx)
	return p.present(ctx)
}

func (p *preflight) say(ok bool, format string, args ...any) {
	word := p.cli.paint.Good("ok  ")
	if !ok {
		word, p.failed = p.cli.paint.Bad("fail"), true
	}
	fmt.Fprintf(p.cli.Out, "%s  %s\n", word, printable.Text(fmt.Sprintf(format, args...)))
}

// kubernetes checks the version of the API server.
func (p *preflight) kubernetes() error {
	discovery, err := p.cli.config.ToDiscoveryClient()
	if err != nil {
		return err
	}
	info, err := discovery.ServerVersion()
	if err != nil {
		return fmt.Errorf("version of the API server: %w", err)
	}
	v, err := utilversion.ParseGeneric(info.GitVersion)
	if err != nil {
		return fmt.Errorf("version of the API server: %w", err)
	}
	switch minor := utilversion.MajorMinor(v.Major(), v.Minor()); {
	case minor.LessThan(oldestKubernetes):
		p.say(false, "Kubernetes %s is too old: the operator needs %s or later", info.GitVersion, oldestKubernetes)
	case newestKubernetes.LessThan(minor):
		p.say(true, "Kubernetes %s should do; the operator is tested on %s to %s", info.GitVersion, oldestKubernetes, newestKubernetes)
	default:
		p.say(true, "Kubernetes %s", info.GitVersion)
	}
	return nil
}

// rights checks whether the user may create the objects of an installation. A remedy that was said last is not
// repeated.
func (p *preflight) rights(ctx context.Context, namespace string) error {
	rights, err := local.NewRights(p.config)
	if err != nil {
		return err
	}
	granted := map[string][]string{} // by verb
	said := ""
	for _, right := range needed {
		q := access.Question{Verb: right.verb, Group: right.resource.Group, Resource: right.resource.Resource, Namespace: right.namespace}
		place := ""
		switch right.namespace {
		case "":
		case chosen:
			q.Namespace, place = namespace, " in namespace "+namespace
		default:
			place = " in namespace " + right.namespace
		}
		may, err := rights.May(ctx, q)
		if err != nil {
			return fmt.Errorf("rights: %w", err)
		}
		if may {
			name := right.resource.Resource
			if right.namespace != chosen {
				name += place
			}
			granted[right.verb] = append(granted[right.verb], name)
			continue
		}
		remedy := right.remedy
		if remedy == said {
			remedy = "the same"
		}
		p.say(false, "you may not %s %s%s: %s", right.verb, right.resource, place, remedy)
		said = right.remedy
	}
	for _, verb := range []string{"create", "escalate", "bind"} {
		if names := granted[verb]; len(names) > 0 {
			p.say(true, "you may %s %s", verb, strings.Join(names, ", "))
		}
	}
	return nil
}

// aggregation checks whether the API server is a proxy to other servers.
func (p *preflight) aggregation(ctx context.Context) {
	objects, err := dynamic.NewForConfig(p.config)
	if err != nil {
		p.say(false, "aggregation of APIs: %v", err)
		return
	}
	const name = "extension-apiserver-authentication"
	o, err := objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("kube-system").Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		fmt.Fprintf(p.cli.Out, "?     whether the API server aggregates APIs is not known: %s\n", errorText(err))
		return
	}
	data, _ := o.Object["data"].(map[string]any)
	if text, _ := data["requestheader-client-ca-file"].(string); text == "" {
		p.say(false, "the API server does not aggregate APIs: it runs without --requestheader-client-ca-file. Install the chart with apiService.enabled=false")
		return
	}
	p.say(true, "the API server aggregates APIs")
}

// present prints the objects that are installed already.
func (p *preflight) present(ctx context.Context) error {
	reader, err := client.New(p.config)
	if err != nil {
		return err
	}
	defer reader.CloseIdleConnections()
	version, err := reader.ServerVersion(ctx)
	switch {
	case client.IsNotServed(err):
		p.say(true, "no operator is installed")
	case err != nil:
		p.say(false, "an APIService %s is there, and does not answer: %v. Delete it, or mend the installation behind it", apiService, err)
	default:
		p.say(true, "an operator is installed already: version %s", cmp.Or(version, "unknown"))
	}
	return nil
}
