package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/client"
	"graphview.dev/cmd/kubectl-graphview/internal/local"
	"graphview.dev/cmd/kubectl-graphview/internal/offline"
	"graphview.dev/controllers/validation"
	"graphview.dev/graphview"
	"graphview.dev/graphview/printable"
)

// mostTold bounds the messages about manifests that are printed.
const mostTold = 10

// manifestFlags name the manifests that a graph is made from.
type manifestFlags struct{ from, kustomize, with, schemas, allow []string }

func (f *manifestFlags) given() bool { return len(f.from)+len(f.kustomize) > 0 }

// addFlags adds the flags of manifests, with --allow if the command judges them.
func (f *manifestFlags) addFlags(flags *pflag.FlagSet, verdict bool) {
	flags.StringArrayVar(&f.from, "from", nil, "Look at manifests, as if they were applied, and at no cluster: files, folders with their subfolders, or - for standard input. May be repeated")
	flags.StringArrayVarP(&f.kustomize, "kustomize", "k", nil, "As --from, for a folder that kustomize builds")
	flags.StringArrayVar(&f.with, "with", nil, "Look at the cluster as it is once these manifests are applied: files, folders, or - for standard input. With --local, or with the NAME of a GraphView, whose objects are then read with your own rights. May be repeated")
	flags.StringArrayVar(&f.schemas, "schemas", nil, "With --from: files and folders with the CustomResourceDefinitions of kinds that the manifests do not define")
	if verdict {
		flags.StringArrayVar(&f.allow, "allow", nil, "With --from and --with: KIND/NAME, with * for any text, of objects that are created elsewhere, as the comment # graphview: allow KIND/NAME")
	}
}

// checkManifestFlags refuses flags of manifests that do not go together.
func (c *cli) checkManifestFlags(cmd *cobra.Command) error {
	files := &c.local.files
	switch {
	case len(files.with) > 0 && (files.given() || c.link != ""):
		return usagef(cmd, "--with looks at the cluster of your kubeconfig: leave it, or --from, -k and --link, out")
	case files.given() && (c.local.live || c.link != ""):
		return usagef(cmd, "--from looks at no cluster: leave it, or --local and --link, out")
	case files.given() && c.config.Namespace != nil && strings.Contains(*c.config.Namespace, ","):
		return usagef(cmd, "-n %s: with --from it is the namespace of objects that name none; leave all but one out", *c.config.Namespace)
	case !files.given() && len(files.schemas) > 0:
		return usagef(cmd, "--schemas goes with --from or -k")
	case !files.given() && len(files.with) == 0 && len(files.allow) > 0:
		return usagef(cmd, "--allow goes with --from, -k or --with")
	}
	return nil
}

// runManifests serves the graph of manifests while run runs.
func (s *source) runManifests(cmd *cobra.Command, run func(context.Context) error) error {
	c := s.cli
	l := &c.local
	loader := offline.NewLoader(offline.Options{
		Paths: l.files.from, Kustomizations: l.files.kustomize, Schemas: l.files.schemas, Namespace: *c.config.Namespace, Stdin: c.In,
	})
	m := loader.Load()
	if m.Count() == 0 {
		if len(m.Faults) > 0 {
			return usagef(cmd, "%s", told(m.Faults))
		}
		c.tellManifests(m)
		return usagef(cmd, "there is no object in %s: name files or folders with manifests", strings.Join(slices.Concat(l.files.from, l.files.kustomize), ", "))
	}
	c.scopeManifests(m)
	of, err := c.readManifests(cmd, m)
	if err != nil {
		return err
	}
	c.tellManifests(m)
	server := offline.NewServer(m)
	l.manifests = server
	defer func() { l.manifests = nil }()
	if c.mapper, err = mapperOf(server.Config()); err != nil {
		return err
	}
	if l.rights, err = local.NewRights(server.Config()); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	var serving errgroup.Group
	serving.Go(func() error { return server.Run(ctx) })
	o := local.Options{Config: server.Config(), Rights: l.rights, View: l.view, Spec: &of.spec, Rules: of.rules, WithoutHealth: true, SyncTimeout: s.patience()}
	err = local.With(ctx, o, func(ctx context.Context, cluster *local.Cluster) error {
		l.cluster = cluster
		defer func() { l.cluster = nil }()
		if !s.follows {
			err := run(ctx)
			if len(m.Faults) > 0 && (err == nil || errors.Is(err, errFound)) {
				return usagef(cmd, "%s", told(m.Faults))
			}
			return err
		}
		c.tellFaults(m)
		ctx, stop := context.WithCancel(ctx)
		var following errgroup.Group
		following.Go(func() error {
			return server.Follow(ctx, loader, func(m *offline.Manifests) { c.followed(ctx, cmd, cluster, m, &of) })
		})
		err := run(ctx)
		stop()
		return errors.Join(err, following.Wait())
	})
	stop()
	return errors.Join(err, serving.Wait())
}

// manifestView has the spec of the view, and the rules, that manifests declare.
type manifestView struct {
	spec  v1alpha1.GraphViewSpec
	rules map[string]v1alpha1.ReferenceRuleSpec
}

// scopeManifests decides which namespace may be left out of the name of an object: that of -n, or the only one.
func (c *cli) scopeManifests(m *offline.Manifests) {
	l, namespace := &c.local, *c.config.Namespace
	described := m.Namespaces()
	if l.namespaces = nil; len(described) == 1 {
		l.namespaces, namespace = described, cmp.Or(namespace, described[0])
	}
	*c.config.Namespace = cmp.Or(namespace, "default")
	l.view, l.allNamespaces = graphview.Name{Namespace: *c.config.Namespace, Name: localName}, true
}

// tellManifests prints the assumptions and warnings about manifests.
func (c *cli) tellManifests(m *offline.Manifests) {
	if !c.quiet {
		fmt.Fprintf(c.ErrOut, "From manifests, as if they were applied, without a cluster: %s.\n", count(m.Count(), "object"))
	}
	c.tellWarnings(m)
}

// tellWarnings prints the warnings about manifests.
func (c *cli) tellWarnings(m *offline.Manifests) {
	for i, text := range m.Warnings {
		if i == mostTold {
			fmt.Fprintf(c.ErrOut, "and %s\n", count(len(m.Warnings)-i, "more warning"))
			break
		}
		fmt.Fprintln(c.ErrOut, printable.Text(text))
	}
}

// readManifests returns the spec of the view of manifests, and their rules.
func (c *cli) readManifests(cmd *cobra.Command, m *offline.Manifests) (of manifestView, err error) {
	l := &c.local
	m.Allow(l.files.allow)
	of.spec = m.View(unwatched)
	if l.file != "" {
		from, err := c.readView(cmd, l.file)
		if err != nil {
			return of, err
		}
		of.spec, of.rules = *from.declared.Spec.DeepCopy(), from.rules
		of.spec.ServiceAccountName = ""
	}
	for _, o := range m.OfKind(v1alpha1.GroupVersion.Group, "ReferenceRule") {
		rule := &v1alpha1.ReferenceRule{}
		err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Content, rule)
		if err == nil {
			err = validation.ReferenceRule(cmd.Context(), nil, rule)
		}
		if err != nil {
			return of, usagef(cmd, "%s: %s", o.Position("kind", ""), errorText(err))
		}
		if of.rules == nil {
			of.rules = map[string]v1alpha1.ReferenceRuleSpec{}
		}
		of.rules[o.Name] = rule.Spec
	}
	return of, nil
}

// origin says where an object of manifests comes from.
func (v *view) origin(key client.Key) string {
	m := v.local.read()
	if m == nil {
		return ""
	}
	o := m.Find(key.Group, key.Resource, key.Namespace, key.Name)
	switch {
	case o == nil:
		return ""
	case o.Made() && v.local.laid != nil:
		return "" // the cluster may have it
	case o.Made():
		return "in no manifest: a controller or every cluster has it"
	default:
		return "at " + printable.Text(o.Position("metadata.name", "").String())
	}
}

// followed is called when manifests have changed.
func (c *cli) followed(ctx context.Context, cmd *cobra.Command, cluster *local.Cluster, m *offline.Manifests, before *manifestView) {
	c.tellFaults(m)
	now, err := c.readManifests(cmd, m)
	if err == nil && !reflect.DeepEqual(now.spec, before.spec) {
		if err = cluster.Apply(ctx, now.spec); err == nil {
			before.spec = now.spec
		}
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(c.ErrOut, errorText(err))
	}
}

// tellFaults prints why files could not be read, while others are shown.
func (c *cli) tellFaults(m *offline.Manifests) {
	for _, fault := range m.Faults {
		fmt.Fprintf(c.ErrOut, "%s. Anything read from it before is still shown.\n", printable.Text(fault.Error()))
	}
}

// told joins errors, one a line.
func told(all []error) string {
	var texts []string
	for i, err := range all {
		if i == mostTold {
			texts = append(texts, "and "+count(len(all)-i, "more error"))
			break
		}
		texts = append(texts, printable.Text(err.Error()))
	}
	return strings.Join(texts, "\n")
}

// mapperOf finds kinds as the mapper of a kubeconfig does, without a cache on the disk.
func mapperOf(config *rest.Config) (func() (meta.RESTMapper, error), error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	cached := memory.NewMemCacheClient(client)
	mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(cached), cached, nil)
	return func() (meta.RESTMapper, error) { return mapper, nil }, nil
}
