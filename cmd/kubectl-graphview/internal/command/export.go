package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"graphview.dev/api/v1alpha1"
)

func (c *cli) export() *cobra.Command {
	var account string
	cmd := &cobra.Command{
		Use:        "export [NAME]",
		Short:      "Write the manifests with which an operator serves the view of --local",
		SuggestFor: []string{"install"},
		Long: `Write the manifests with which an operator serves a view like that of --local for the same flags:
the GraphView, the ServiceAccount whose rights limit it, and a binding of that account to the
ClusterRole view. It works offline and changes nothing: commit the output, or apply it.

The account may list less than you may, and the view selects the kinds of Kubernetes that
ClusterRole view lists: no Secrets, no Roles and no custom resources. For more, add them to the
queries, and give the account a Role. With -f the queries are those of the file.`,
		Example: `  kubectl graphview export -n shop > view.yaml
  kubectl graphview export -n shop,payments storefront | kubectl apply -f -
  kubectl graphview export -f view.yaml`,
		Args: between(0, 1, "at most the NAME of the GraphView"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.writeExport(cmd, args, account)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&account, "service-account", "viewer", "The ServiceAccount whose rights decide what the view contains")
	flags.StringVarP(&c.local.file, "filename", "f", "", "A file with the GraphView to take, and any ReferenceRules")
	flags.BoolVarP(&c.local.allNamespaces, "all-namespaces", "A", false, "All namespaces, and the Namespaces themselves")
	return cmd
}

// listedByView are the kinds of Kubernetes that ClusterRole view lists and that the view of --local has. A view of
// others would not be complete for its account.
const listedByView = "group == '' && resource in ['configmaps', 'limitranges', 'persistentvolumeclaims', 'pods', 'replicationcontrollers', 'resourcequotas', 'serviceaccounts', 'services'] || " +
	"group in ['apps', 'policy'] || group == 'autoscaling' && resource == 'horizontalpodautoscalers' || group == 'batch' && resource in ['cronjobs', 'jobs'] || " +
	"group == 'discovery.k8s.io' && resource == 'endpointslices' || group == 'networking.k8s.io' && resource in ['ingresses', 'networkpolicies']"

// writeExport writes the manifests.
func (c *cli) writeExport(cmd *cobra.Command, args []string, account string) error {
	named, from, err := c.readScope(cmd)
	if err != nil {
		return err
	}
	namespace, _, err := c.config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return err
	}
	switch l := &c.local; {
	case l.allNamespaces:
	case len(named) > 0:
		l.namespaces = named
	case from.declared == nil:
		l.namespaces = []string{namespace}
	case from.declared.Spec.Namespaces != nil:
		for _, name := range from.declared.Spec.Namespaces.Names {
			l.namespaces = append(l.namespaces, string(name))
		}
	}
	name := namespace
	switch {
	case len(args) > 0:
		name = args[0]
	case from.declared != nil:
		name = from.declared.Name
	case c.local.allNamespaces:
		name = "cluster"
	}
	for what, value := range map[string]string{"the NAME of a GraphView": name, "--service-account, a name": account} {
		if problems := validation.IsDNS1123Subdomain(value); len(problems) > 0 {
			return usagef(cmd, "%q is not %s: %s", value, what, problems[0])
		}
	}
	return c.writeManifests(c.manifests(from, namespace, name, account), namespace, name)
}

// manifests returns the objects, in the order in which they are applied.
func (c *cli) manifests(from fileView, namespace, name, account string) []any {
	type object = map[string]any
	subjects := []object{{"kind": "ServiceAccount", "name": account, "namespace": namespace}}
	role := object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
	of := c.local.declare(from.declared)
	of.ServiceAccountName = account
	if from.declared == nil {
		listed := listedByView
		if len(c.local.namespaces) == 0 {
			listed = "group == '' && resource == 'namespaces' || " + listed
		}
		of.Queries = []v1alpha1.Query{{Include: &v1alpha1.Include{ResourceSelectorExpression: listed}}}
	}
	all := []any{object{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": object{"name": account, "namespace": namespace}}}
	for _, in := range c.local.namespaces {
		all = append(all, object{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
			"metadata": object{"name": "graphview-" + account, "namespace": in}, "roleRef": role, "subjects": subjects,
		})
	}
	if len(c.local.namespaces) == 0 {
		all = append(all, object{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
			"metadata": object{"name": "graphview-" + namespace + "-" + account}, "roleRef": role, "subjects": subjects,
		})
	}
	for _, rule := range from.objects {
		all = append(all, object{"apiVersion": "graphview.dev/v1alpha1", "kind": "ReferenceRule", "metadata": object{"name": rule.Name}, "spec": rule.Spec})
	}
	return append(all, object{"apiVersion": "graphview.dev/v1alpha1", "kind": "GraphView", "metadata": object{"name": name, "namespace": namespace}, "spec": of})
}

// writeManifests writes objects as one file.
func (c *cli) writeManifests(objects []any, namespace, name string) error {
	var text strings.Builder
	fmt.Fprintf(&text, "# An operator serves this view to everybody who may open it. docs/install.md has the operator. Then:\n"+
		"#   kubectl apply -f FILE\n"+
		"#   kubectl graphview dashboard %s -n %s\n", name, namespace)
	for i, object := range objects {
		if i > 0 {
			text.WriteString("---\n")
		}
		part, err := yaml.Marshal(object)
		if err != nil {
			return fmt.Errorf("write the manifests: %w", err)
		}
		text.Write(part)
	}
	if _, err := fmt.Fprint(c.Out, text.String()); err != nil {
		return fmt.Errorf("write the manifests: %w", err)
	}
	return nil
}
