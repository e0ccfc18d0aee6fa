package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/cmd/kubectl-graphview/internal/local"
	"graphview.dev/cmd/kubectl-graphview/internal/offline"
	"graphview.dev/graphview"
)

// localName is the name of the one view of --local.
const localName = "local"

// localView has the flags of --local and --from, and the graphs while this process serves them.
type localView struct {
	live          bool
	chosen        bool   // live because no operator serves graphs
	file          string // of a GraphView
	allNamespaces bool
	files         manifestFlags

	// manifests answer in place of a cluster; nil without --from.
	manifests *offline.Server
	// laid are the manifests that are laid over the cluster; nil without --with.
	laid *laidManifests

	// cluster is nil without --local, and while the graphs are not served yet.
	cluster *local.Cluster
	rights  *local.Rights
	view    graphview.Name
	// namespaces are those of the scope, nil for all.
	namespaces []string
}

// on reports whether a flag asks for a graph that this process makes.
func (l *localView) on() bool { return l.nameless() || len(l.files.with) > 0 }

// nameless reports whether a flag stands for the NAME of a GraphView.
func (l *localView) nameless() bool { return l.live || l.files.given() }

// read returns the manifests of --from or --with, nil without them.
func (l *localView) read() *offline.Manifests {
	switch {
	case l.manifests != nil:
		return l.manifests.Manifests()
	case l.laid != nil:
		return l.laid.manifests
	default:
		return nil
	}
}

// serves reports whether this process serves the graphs.
func (l *localView) serves() bool { return l.cluster != nil }

// refuseLists refuses -n a,b for commands without --local, since an operator's view has its own namespaces.
func (c *cli) refuseLists(cmd *cobra.Command, _ []string) error {
	if cmd.Flags().Lookup("local") == nil && cmd.Name() != "export" && c.config.Namespace != nil && strings.Contains(*c.config.Namespace, ",") {
		return usagef(cmd, "-n %s: several namespaces are for --local", *c.config.Namespace)
	}
	return nil
}

// runLocal serves the graphs of a scope while run runs: the namespaces that -n names, or those of a view.
func (s *source) runLocal(cmd *cobra.Command, named []string, from fileView, run func(context.Context) error) error {
	c := s.cli
	ctx, l := cmd.Context(), &c.local
	config, err := c.config.ToRESTConfig()
	if err != nil {
		return err
	}
	if l.rights, err = local.NewRights(config); err != nil {
		return err
	}
	connected := c.during(ctx, "connecting to %s, and asking what you may list", config.Host)
	defer connected()
	if err := l.rights.Connect(ctx, config); err != nil {
		return err
	}
	if err := c.scope(ctx, named, from.declared); err != nil {
		return err
	}
	if err := l.rights.Check(ctx, config, l.namespaces); err != nil {
		return c.withCandidates(err)
	}
	connected()
	namespace, _, err := c.config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return err
	}
	l.view = graphview.Name{Namespace: namespace, Name: localName}
	o := local.Options{Config: config, Rights: l.rights, View: l.view, Rules: from.rules, SyncTimeout: s.patience()}
	if len(l.files.with) > 0 {
		if o.Config, err = s.layManifests(cmd, config, namespace); err != nil {
			return err
		}
		defer func() { l.laid = nil }()
	}
	if !s.adHoc {
		declared := l.declare(from.declared)
		o.Spec = &declared
	}
	discovered := c.during(ctx, "asking %s for its kinds", config.Host)
	defer discovered()
	return local.With(ctx, o, func(ctx context.Context, cluster *local.Cluster) error {
		discovered()
		l.cluster = cluster
		defer func() { l.cluster = nil }()
		return run(ctx)
	})
}

// readScope reads -n, whose first namespace becomes that of objects without one, and -f.
func (c *cli) readScope(cmd *cobra.Command) (named []string, from fileView, err error) {
	if named, err = namespacesIn(cmd, *c.config.Namespace); err != nil {
		return nil, from, err
	}
	if len(named) > 0 {
		*c.config.Namespace = named[0]
	}
	if c.local.file != "" {
		from, err = c.readView(cmd, c.local.file)
	}
	return named, from, err
}

// namespacesIn returns the namespaces of -n.
func namespacesIn(cmd *cobra.Command, flag string) ([]string, error) {
	if flag == "" {
		return nil, nil
	}
	names := strings.Split(flag, ",")
	if slices.Contains(names, "") {
		return nil, usagef(cmd, "-n %s: expected names of namespaces, as a,b", flag)
	}
	slices.Sort(names[1:])
	return slices.Compact(names), nil
}

// scope decides which namespaces the view has, and prints them.
func (c *cli) scope(ctx context.Context, named []string, declared *v1alpha1.GraphView) error {
	l := &c.local
	hint := "-A shows all namespaces"
	switch {
	case l.allNamespaces:
		l.namespaces, hint = nil, ""
	case len(named) > 0:
		l.namespaces, hint = named, ""
	case declared != nil && declared.Spec.Namespaces == nil && !l.live:
		l.namespaces, hint = nil, "as the GraphView selects them" // -n is its namespace
	case declared != nil && declared.Spec.Namespaces == nil:
		l.namespaces, hint = nil, "-n a,b narrows it"
	case declared != nil && declared.Spec.Namespaces.Names == nil:
		l.namespaces, hint = nil, "as the GraphView selects them"
	case declared != nil:
		l.namespaces, hint = nil, "as the GraphView names them"
		for _, name := range declared.Spec.Namespaces.Names {
			l.namespaces = append(l.namespaces, string(name))
		}
	default:
		namespace, err := c.contextNamespace()
		if err != nil {
			return err
		}
		if namespace != "" {
			l.namespaces = []string{namespace}
			break
		}
		all, err := l.rights.MayListNamespaces(ctx)
		if err != nil {
			return err
		}
		if all {
			l.namespaces, hint = nil, "-n a,b narrows it"
		} else {
			l.namespaces = []string{"default"}
		}
	}
	if c.quiet {
		return nil
	}
	where := "all namespaces"
	switch len(l.namespaces) {
	case 0:
	case 1:
		where = "namespace " + l.namespaces[0]
	default:
		where = "the namespaces " + strings.Join(l.namespaces, ", ")
	}
	if hint != "" {
		hint = "; " + hint
	}
	if l.chosen {
		fmt.Fprintf(c.ErrOut, "No operator serves graphs here, so with your own rights, in %s%s. --local=false refuses that.\n", where, hint)
		return nil
	}
	fmt.Fprintf(c.ErrOut, "Without an operator, with your own rights, in %s%s.\n", where, hint)
	return nil
}

// contextNamespace returns the namespace that the kubeconfig, or the pod, names; "" if it names none.
func (c *cli) contextNamespace() (string, error) {
	namespace, _, err := c.config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", err
	}
	raw, current, err := c.contexts()
	if err != nil {
		return "", err
	}
	if namespace == "default" && (raw.Contexts[current] == nil || raw.Contexts[current].Namespace == "") {
		return "", nil
	}
	return namespace, nil
}

// contexts returns the kubeconfig and the name of the context in use.
func (c *cli) contexts() (raw clientcmdapi.Config, current string, err error) {
	if raw, err = c.config.ToRawKubeConfigLoader().RawConfig(); err != nil {
		return raw, "", err
	}
	return raw, cmp.Or(ptr.Deref(c.config.Context, ""), raw.CurrentContext), nil
}

// declare returns the spec of the local view: that of the file or the default, in the namespaces of
// the scope.
func (l *localView) declare(from *v1alpha1.GraphView) v1alpha1.GraphViewSpec {
	var of v1alpha1.GraphViewSpec
	if from != nil {
		of = *from.Spec.DeepCopy()
		of.ServiceAccountName = ""
		if selects := of.Namespaces != nil && of.Namespaces.Names == nil; selects && len(l.namespaces) == 0 && !l.allNamespaces {
			return of
		}
	} else {
		include := "namespaced"
		if len(l.namespaces) == 0 {
			include = "true"
		}
		of.Queries = []v1alpha1.Query{
			{Exclude: &v1alpha1.Exclude{ResourceSelectorExpression: unwatched}},
			{Include: &v1alpha1.Include{ResourceSelectorExpression: include}},
		}
	}
	of.Namespaces = nil
	if len(l.namespaces) > 0 {
		of.Namespaces = &v1alpha1.Namespaces{}
		for _, name := range l.namespaces {
			of.Namespaces.Names = append(of.Namespaces.Names, v1alpha1.NamespaceName(name))
		}
	}
	return of
}

// withCandidates adds to an error about unreadable namespaces which others the kubeconfig names for
// this cluster and user.
func (c *cli) withCandidates(err error) error {
	if _, ok := errors.AsType[*local.UnreadableError](err); !ok {
		return err
	}
	raw, current, failed := c.contexts()
	if failed != nil {
		return err
	}
	of := raw.Contexts[current]
	var names []string
	for _, other := range raw.Contexts {
		if of != nil && other.Cluster == of.Cluster && other.AuthInfo == of.AuthInfo && other.Namespace != "" && !slices.Contains(c.local.namespaces, other.Namespace) {
			names = append(names, other.Namespace)
		}
	}
	if len(names) == 0 {
		return err
	}
	slices.Sort(names)
	return fmt.Errorf("%w. Your kubeconfig names %s", err, strings.Join(slices.Compact(names), ", "))
}
