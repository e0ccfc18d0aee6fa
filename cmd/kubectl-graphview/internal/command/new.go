package command

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"graphview.dev/graphview/advice"
)

// preset is a GraphView for a common need.
type preset struct {
	use, what string
	// named presets are about an object of that name.
	named bool
	// wide presets need rights beyond one namespace.
	wide bool
	// include is the resource expression; namespaced restricts it to the namespace.
	include    string
	namespaced bool
	// root is the root object, with a placeholder for its name, "" without roots. also is an
	// expression for more roots, with placeholders for that name and the namespace. follow is the direction
	// from the roots.
	root, also, follow string
}

const (
	everything = "true"
	owned      = "ignoreArcDirection: [or]"
)

// unwatched selects the resources that a view excludes unless its author says otherwise: they say little
// about applications, or the same as others, and change often.
const unwatched = "resource == 'events' || (group == '' && resource == 'endpoints') || " +
	"group in ['coordination.k8s.io', 'graphview.dev', 'flowcontrol.apiserver.k8s.io', 'apiregistration.k8s.io']"

// presets in the order of their list.
var presets = []preset{
	{use: "helm", what: "what a release of Helm installed", named: true, wide: true, include: everything, follow: owned,
		root: "helmRelease: %q"},
	{use: "application", what: "what an Application of Argo CD manages", named: true, wide: true, include: everything, follow: owned,
		root: "argoApplication: %q"},
	{use: "kustomization", what: "what a Kustomization of Flux manages", named: true, wide: true, include: everything, follow: owned,
		root: "fluxKustomization: %q"},
	{use: "helmrelease", what: "what a HelmRelease of Flux manages", named: true, wide: true, include: everything, follow: owned,
		root: "fluxHelmRelease: %q"},
	{use: "deployment", what: "a Deployment, what it owns and what it uses", named: true, include: everything, namespaced: true, follow: owned,
		root: "group: apps, kind: Deployment, name: %q"},
	{use: "statefulset", what: "a StatefulSet, what it owns and what it uses", named: true, include: everything, namespaced: true, follow: owned,
		root: "group: apps, kind: StatefulSet, name: %q"},
	{use: "configmap", what: "what depends on a ConfigMap", named: true, include: everything, namespaced: true, follow: "follow: {direction: Up}",
		root: `group: "", kind: ConfigMap, name: %q`},
	{use: "secret", what: "what depends on a Secret", named: true, include: everything, namespaced: true, follow: "follow: {direction: Up}",
		root: `group: "", kind: Secret, name: %q`},
	{use: "namespace", what: "everything in the namespace: what is missing, what is unhealthy", include: "namespaced", namespaced: true},
	{use: "gateway", what: "a Gateway, the routes that are attached to it, and what they lead to", named: true, wide: true, follow: "follow: {direction: Down}",
		include: "group == 'gateway.networking.k8s.io' || (group == '' && kind in ['Service', 'Pod', 'Secret'])",
		root:    "group: gateway.networking.k8s.io, kind: Gateway, name: %q",
		also: "group == 'gateway.networking.k8s.io' && kind.endsWith('Route') && obj.spec.?parentRefs.orValue([])" +
			".exists(p, p.name == '%s' && p.?kind.orValue('Gateway') == 'Gateway' && p.?namespace.orValue(namespace) == '%s')"},
	{use: "network", what: "what leads to the namespace's Pods: Gateways, routes, Ingresses, Services", namespaced: true,
		include: "group in ['networking.k8s.io', 'gateway.networking.k8s.io', 'discovery.k8s.io'] || (group == '' && kind in ['Service', 'Pod'])"},
	{use: "nodes", what: "which Pods and volumes are on which Nodes", wide: true,
		include: "group == '' && kind in ['Node', 'Pod', 'PersistentVolumeClaim', 'PersistentVolume']"},
	{use: "rbac", what: "who is bound to which roles", wide: true,
		include: "group == 'rbac.authorization.k8s.io' || (group == '' && kind == 'ServiceAccount')"},
}

func (c *cli) create() *cobra.Command {
	account := ""
	var list strings.Builder
	var uses []string
	for _, p := range presets {
		use := p.use
		if p.named {
			use += " NAME"
		}
		fmt.Fprintf(&list, "  %-20s  %s\n", use, p.what)
		uses = append(uses, p.use)
	}
	cmd := &cobra.Command{
		Use:   "new WHAT [NAME]",
		Short: "Write the manifest of a GraphView for a common need",
		Long:  "Write the manifest of a GraphView for a common need. Works offline.\n\n" + list.String(),
		Example: `  kubectl graphview new helm pay -n payments | kubectl apply -f -
  kubectl graphview new configmap settings -n shop
  kubectl graphview new namespace -n shop > view.yaml`,
		Args:      between(1, 2, "WHAT [NAME]: "+strings.Join(uses, ", ")),
		ValidArgs: uses,
		RunE: func(cmd *cobra.Command, args []string) error {
			words := args
			if kind, name, found := strings.Cut(args[0], "/"); found && len(args) == 1 {
				words = []string{kind, name}
			}
			i := slices.IndexFunc(presets, func(p preset) bool { return strings.EqualFold(p.use, words[0]) })
			switch near := nearPreset(words[0], uses); {
			case i < 0 && near == "":
				return usagef(cmd, "there is no preset %q: there are %s", words[0], strings.Join(uses, ", "))
			case i < 0:
				return presets[slices.Index(uses, near)].correct(c, usagef(cmd, "there is no preset %q; did you mean %s?", words[0], near), cmd, words)
			}
			p := presets[i]
			switch {
			case p.named && len(words) == 2 && len(args) == 1:
				return p.correct(c, usagef(cmd, "expected new %s NAME", p.use), cmd, words)
			case !p.named && len(words) == 2:
				return p.correct(c, usagef(cmd, "expected new %s, without a NAME", p.use), cmd, words)
			case p.named != (len(args) == 2):
				return usagef(cmd, "expected new %s", map[bool]string{true: p.use + " NAME", false: p.use}[p.named])
			}
			namespace, _, err := c.config.ToRawKubeConfigLoader().Namespace()
			if err != nil {
				return fmt.Errorf("kubeconfig: %w", err)
			}
			return p.write(c, cmd, args[1:], namespace, account)
		},
	}
	cmd.Flags().StringVar(&account, "service-account", "viewer", "The ServiceAccount whose rights decide what the view contains; empty for an operator with --require-service-account=false")
	return cmd
}

// nearPreset returns the preset that a word means, by a similar name or by a short name of kubectl; "" if there is none.
func nearPreset(word string, uses []string) string {
	short := map[string]string{"deploy": "deployment", "sts": "statefulset", "cm": "configmap", "ns": "namespace", "app": "application", "ks": "kustomization", "hr": "helmrelease", "gtw": "gateway", "no": "nodes"}
	word = strings.ToLower(word)
	if near := append(advice.Nearest(word, uses, 1), advice.Nearest(strings.TrimSuffix(word, "s"), uses, 1)...); short[word] == "" && len(near) > 0 {
		return near[0]
	}
	return short[word]
}

// correct adds to an error the command with the preset, if it can be complete.
func (p *preset) correct(c *cli, err error, cmd *cobra.Command, words []string) error {
	switch {
	case !p.named:
		return c.correct(err, cmd, []string{p.use})
	case len(words) == 2:
		return c.correct(err, cmd, []string{p.use, quoted(words[1])})
	default:
		return err
	}
}

// write writes the manifest.
func (p *preset) write(c *cli, cmd *cobra.Command, args []string, namespace, account string) error {
	name, root, also := p.use, "", ""
	if p.named {
		if problems := validation.IsDNS1123Subdomain(args[0]); len(problems) > 0 {
			return usagef(cmd, "%q is no name: %s", args[0], problems[0])
		}
		name, root = args[0], fmt.Sprintf(p.root, args[0])
	}
	if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
		return usagef(cmd, "%q is no name of a namespace: %s", namespace, problems[0])
	}
	if p.also != "" {
		also = fmt.Sprintf(p.also, args[0], namespace)
	}
	if problems := validation.IsDNS1123Subdomain(account); account != "" && len(problems) > 0 {
		return usagef(cmd, "--service-account: %q is no name of a ServiceAccount: %s", account, problems[0])
	}
	text := p.text(presetValues{name: name, namespace: namespace, root: root, also: also, account: account})
	if _, err := io.WriteString(c.Out, text); err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	return nil
}

// presetValues are the values of a preset from the command line.
type presetValues struct{ name, namespace, root, also, account string }

// text returns the manifest. It does not use text/template, which would make the linker keep every
// exported method of the program.
func (p *preset) text(v presetValues) string {
	var b strings.Builder
	write := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	write("# %s.", strings.ToUpper(p.what[:1])+p.what[1:])
	write("apiVersion: graphview.dev/v1alpha1")
	write("kind: GraphView")
	write("metadata:")
	write("  name: %q", v.name)
	write("  namespace: %q", v.namespace)
	write("spec:")
	write("  queries:")
	write("  - exclude:")
	write("      resourceSelectorExpression: %q", unwatched)
	write("  - include:")
	write("      resourceSelectorExpression: \"%s\"", p.include)
	if p.namespaced {
		write("  namespaces:")
		write("    names: [%q]", v.namespace)
	}
	if v.root != "" {
		write("  roots:")
		write("    objects:")
		write("    - {%s, namespace: %q}", v.root, v.namespace)
		if v.also != "" {
			write("    objectSelectorExpressions:")
			write("    - %q", v.also)
		}
		write("    %s", p.follow)
	}
	if v.account == "" {
		return b.String()
	}
	everywhere, scope, suffix, role := "", "", " -n "+v.namespace, "view"
	if p.wide {
		everywhere, scope, suffix, role = ", in all namespaces", "cluster", "-"+v.namespace, "YOURS"
	}
	write("  # The view contains what this ServiceAccount may list and watch%s:", everywhere)
	write("  #   kubectl create serviceaccount %s -n %s", v.account, v.namespace)
	write("  #   kubectl create %srolebinding %s%s --clusterrole=%s --serviceaccount=%s:%s", scope, v.account, suffix, role, v.namespace, v.account)
	if strings.Contains(p.root+p.include, "Secret") || strings.Contains(p.root, "helmRelease") {
		write("  # It has to be allowed to list and watch secrets, too, which the ClusterRole view does not include.")
	}
	write("  serviceAccountName: %q", v.account)
	return b.String()
}
