package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	"graphview.dev/cmd/kubectl-graphview/internal/manifest"
	"graphview.dev/graphview/printable"
	"graphview.dev/graphview/resources"
)

func (c *cli) validate() *cobra.Command {
	var (
		files     []string
		recursive bool
		discover  bool
		o         manifest.Options
	)
	cmd := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check manifests, without a server or against one",
		Long: `Check manifests as a server with this version of the operator would: their form,
the rules of the CustomResourceDefinitions, and every expression, selector and
JSONPath. It works offline. It ignores other kinds, so whole folders can be checked.

With --discover it asks the server of your kubeconfig for the served kinds, and for
namespaces, ServiceAccounts, names and labels. It names parts of a spec that would
have no effect there, and suggests corrections. That is advice and not
an error, since missing objects may be created later; but a GraphView whose
ServiceAccount does not exist is not accepted.

It prints problems to standard output, one per line: FILE:LINE: OBJECT: FIELD:
problem. Exit codes: 0 no problems, 1 problems, 2 a file cannot be read.`,
		Example: `  kubectl graphview validate storefront.yaml
  kubectl graphview validate -f manifests/ -R
  kustomize build . | kubectl graphview validate -f -`,
		Args: func(cmd *cobra.Command, args []string) error {
			if files = append(files, args...); len(files) == 0 {
				return usagef(cmd, "expected FILE")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			names, err := manifest.Files(files, recursive)
			if err != nil {
				return usagef(cmd, "%w", err)
			}
			if discover {
				if o.Cluster, err = c.cluster(cmd.Context()); err != nil {
					return err
				}
			}
			checker, err := manifest.New(o)
			if err != nil {
				return err
			}
			var total manifest.Result
			for _, name := range names {
				text, err := manifest.Read(name, c.In)
				if err != nil {
					return usagef(cmd, "%w", err)
				}
				if name == manifest.Stdin {
					name = "<stdin>"
				}
				r := checker.Check(cmd.Context(), name, text)
				for _, p := range r.Problems {
					fmt.Fprintln(c.Out, printable.Text(p.String()))
				}
				for _, a := range r.Advice {
					fmt.Fprintln(c.Out, printable.Text(a.String()))
				}
				total.Problems = append(total.Problems, r.Problems...)
				total.Advice = append(total.Advice, r.Advice...)
				total.Checked += r.Checked
				total.Skipped += r.Skipped
			}
			without := ""
			if discover {
				without = fmt.Sprintf(" %s without effect,", count(len(total.Advice), "part"))
			}
			fmt.Fprintf(c.ErrOut, "%s checked, %s,%s %d of other kinds\n", count(total.Checked, "object"), count(len(total.Problems), "problem"), without, total.Skipped)
			if len(total.Problems) > 0 {
				return errFound
			}
			return nil
		},
	}
	cmd.Flags().StringSliceVarP(&files, "filename", "f", nil, "Files or folders with manifests; - is standard input")
	cmd.Flags().BoolVarP(&recursive, "recursive", "R", false, "Folders below folders, too")
	cmd.Flags().BoolVar(&discover, "discover", false, "Ask the server what it serves, and name the parts of a spec that would have no effect there")
	cmd.Flags().BoolVar(&o.RequireServiceAccount, "require-service-account", true, "Every GraphView names a ServiceAccount, as the operator wants it by default; false for an operator with --require-service-account=false")
	return cmd
}

// maxLooked bounds the objects of a resource whose names and labels validate compares. If there
// are more, it does not compare names and labels.
const maxLooked = 500

// cluster returns the served resources and, if the user may list them, the
// namespaces.
func (c *cli) cluster(ctx context.Context) (*manifest.Cluster, error) {
	config, err := c.config.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	found := &manifest.Cluster{}
	if found.Namespace, _, err = c.config.ToRawKubeConfigLoader().Namespace(); err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	if found.Served, err = resources.Once(ctx, config); err != nil {
		return nil, fmt.Errorf("ask the server what it serves: %w", err)
	}
	config.QPS, config.Burst = 50, 300 // as for discovery: a spec may select many resources
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	found.Objects = func(ctx context.Context, r resources.Resource, namespace string) (all []manifest.Object, ok bool) {
		list, err := objects.Resource(schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: maxLooked})
		if err != nil {
			return nil, false
		}
		for i := range list.Items {
			all = append(all, manifest.Object{Name: list.Items[i].Name, Labels: list.Items[i].Labels})
		}
		return all, list.Continue == ""
	}
	all, err := objects.Resource(corev1.SchemeGroupVersion.WithResource("namespaces")).List(ctx, metav1.ListOptions{})
	if err != nil {
		fmt.Fprintf(c.ErrOut, "which namespaces there are is not known: %s\n", errorText(err))
		return found, nil
	}
	found.Namespaces = []string{}
	for i := range all.Items {
		found.Namespaces = append(found.Namespaces, all.Items[i].Name)
	}
	return found, nil
}
