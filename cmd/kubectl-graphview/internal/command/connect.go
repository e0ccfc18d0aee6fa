package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/yaml"
)

// connection describes the ClusterLink of a member, and the chart values with which it connects.
type connection struct {
	name, displayName string
	// memberContext is the member's context in the kubeconfig; empty: that of the command.
	memberContext string
	account       string // of the member's operator, as NAMESPACE/NAME
	hubName, hub  string // the values' name and the hub's address
	keys          bool   // the ClusterLink has the keys of any issuer
}

// connect is the command "link". Its name is that of a flag of other commands.
func (c *cli) connect() *cobra.Command {
	var to connection
	cmd := &cobra.Command{
		Use:   "link NAME --member-context CONTEXT",
		Short: "Write the ClusterLink with which a cluster connects to a hub",
		Long: `Write the ClusterLink NAME, to be applied at the hub, and as a comment the chart values of the
member. It reads the issuer and the keys of ServiceAccount tokens from the member, and changes
nothing.

The keys are in the ClusterLink if the hub cannot read them from the issuer, because its address is
one within the member. Write it again when the member rotates them.`,
		Example: `  kubectl graphview link eu-1 --member-context=eu | kubectl apply -f -
  kubectl graphview link eu-1 --member-context=eu --hub-name=acme --hub=wss://hub.example.com:8444`,
		Args: between(1, 1, "the NAME of the ClusterLink"),
		RunE: func(cmd *cobra.Command, args []string) error {
			to.name = args[0]
			return c.writeConnection(cmd, to)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&to.memberContext, "member-context", "", "The context of the member in your kubeconfig; by default --context, or the current one")
	flags.StringVar(&to.displayName, "display-name", "", "The name of the cluster for users")
	flags.StringVar(&to.account, "service-account", "graphview-system/graphview-manager", "The ServiceAccount of the member's operator, as NAMESPACE/NAME")
	flags.StringVar(&to.hubName, "hub-name", "", "The hub's fleet.name, for the member's values")
	flags.StringVar(&to.hub, "hub", "", "The address at which the hub accepts members, such as wss://hub.example.com:8444, for the member's values")
	flags.BoolVar(&to.keys, "jwks", false, "Write the keys in any case, also if the hub can read them from the issuer")
	return cmd
}

// check returns an error about the arguments.
func (to connection) check(cmd *cobra.Command) error {
	if problems := validation.IsDNS1123Label(to.name); len(problems) > 0 {
		return usagef(cmd, "%q is not the NAME of a ClusterLink: %s", to.name, problems[0])
	}
	if _, name, found := strings.Cut(to.account, "/"); !found || name == "" {
		return usagef(cmd, "--service-account %q is not NAMESPACE/NAME", to.account)
	}
	if address, err := url.Parse(to.hub); to.hub != "" && (err != nil || address.Scheme != "wss" && address.Scheme != "ws" || address.Host == "" || strings.Trim(address.Path, "/") != "") {
		return usagef(cmd, "--hub %q is no address such as wss://hub.example.com:8444", to.hub)
	}
	return nil
}

func (c *cli) writeConnection(cmd *cobra.Command, to connection) error {
	if err := to.check(cmd); err != nil {
		return err
	}
	member := c.config
	if to.memberContext != "" {
		member = genericclioptions.NewConfigFlags(true)
		member.KubeConfig, member.Context = c.config.KubeConfig, &to.memberContext
	}
	of, err := readIssuer(cmd.Context(), member)
	if err != nil {
		return err
	}
	type object = map[string]any
	namespace, account, _ := strings.Cut(to.account, "/")
	identity := object{"issuer": of.issuer, "subject": "system:serviceaccount:" + namespace + ":" + account}
	if to.keys || withinCluster(of.issuer) {
		identity["jwks"] = of.keys
	}
	spec := object{"identity": identity}
	if to.displayName != "" {
		spec["displayName"] = to.displayName
	}
	link, err := yaml.Marshal(object{"apiVersion": "graphview.dev/v1alpha1", "kind": "ClusterLink", "metadata": object{"name": to.name}, "spec": spec})
	if err != nil {
		return fmt.Errorf("write the ClusterLink: %w", err)
	}
	values, err := yaml.Marshal(object{"fleet": object{
		"name":   cmp.Or(to.hubName, "HUB"),
		"member": object{"url": strings.TrimSuffix(cmp.Or(to.hub, "wss://ADDRESS:8444"), "/") + "/tunnel/v1/clusters/" + to.name},
	}})
	if err != nil {
		return fmt.Errorf("write the member's values: %w", err)
	}
	text := fmt.Sprintf("# Apply this at the hub. The chart takes these values in the member, and fleet.member.caSecret if\n# the CA of the hub is private:\n#   %s\n%s",
		strings.ReplaceAll(strings.TrimSpace(string(values)), "\n", "\n#   "), link)
	if _, err := fmt.Fprint(c.Out, text); err != nil {
		return fmt.Errorf("write the ClusterLink: %w", err)
	}
	return nil
}

// issuer is the issuer of a cluster's ServiceAccount tokens, and its public keys as JSON.
type issuer struct{ issuer, keys string }

func readIssuer(ctx context.Context, cluster *genericclioptions.ConfigFlags) (of issuer, err error) {
	discovery, err := cluster.ToDiscoveryClient()
	if err != nil {
		return issuer{}, err
	}
	read := func(path string) ([]byte, error) {
		text, err := discovery.RESTClient().Get().AbsPath(path).Do(ctx).Raw()
		if err != nil {
			return nil, fmt.Errorf("read %s of the member: %w", path, err)
		}
		return text, nil
	}
	text, err := read("/.well-known/openid-configuration")
	if err != nil {
		return issuer{}, err
	}
	var configuration struct {
		Issuer string `json:"issuer"`
	}
	if err := json.Unmarshal(text, &configuration); err != nil {
		return issuer{}, fmt.Errorf("the issuer of the member: %w", err)
	}
	if configuration.Issuer == "" {
		return issuer{}, errors.New("the member names no issuer of ServiceAccount tokens: its API server lacks --service-account-issuer")
	}
	keys, err := read("/openid/v1/jwks")
	if err != nil {
		return issuer{}, err
	}
	return issuer{configuration.Issuer, strings.TrimSpace(string(keys))}, nil
}

// withinCluster reports whether the hub cannot read the keys of an issuer: it is not an https address,
// or its host name resolves only within the cluster.
func withinCluster(issuer string) bool {
	address, err := url.Parse(issuer)
	if err != nil || address.Scheme != "https" {
		return true
	}
	host := address.Hostname()
	return !strings.Contains(host, ".") || strings.HasSuffix(host, ".svc") || strings.HasSuffix(host, ".cluster.local")
}
