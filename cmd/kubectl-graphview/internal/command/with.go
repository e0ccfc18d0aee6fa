package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/cmd/kubectl-graphview/internal/offline"
	"graphview.dev/graphview/printable"
)

// laidManifests are the manifests of --with, and the fields that are wrong once they are applied.
type laidManifests struct {
	manifests *offline.Manifests
	findings  []offline.Finding
}

// findingsOf returns the wrong fields of manifests; with --with, also the fields of the cluster that become wrong.
func (c *cli) findingsOf(m *offline.Manifests) []offline.Finding {
	if c.local.laid != nil {
		return c.local.laid.findings
	}
	return m.Findings()
}

// layManifests reads the manifests of --with, and returns the configuration of a client that sees the cluster
// with them.
func (s *source) layManifests(cmd *cobra.Command, config *rest.Config, namespace string) (*rest.Config, error) {
	c := s.cli
	mapper, err := c.mapper()
	if err != nil {
		return nil, err
	}
	l := &c.local
	m := offline.NewLoader(offline.Options{Paths: l.files.with, Namespace: namespace, Stdin: c.In, Cluster: mapper}).Load()
	switch {
	case len(m.Faults) > 0:
		return nil, usagef(cmd, "%s", told(m.Faults))
	case m.Count() == 0:
		return nil, usagef(cmd, "there is no object in %s: name files or folders with manifests", strings.Join(l.files.with, ", "))
	}
	m.Allow(l.files.allow)
	laid := &laidManifests{manifests: m}
	if s.verdict {
		var unread []string
		if laid.findings, unread, err = m.LiveFindings(cmd.Context(), config); err != nil {
			return nil, err
		}
		if len(unread) > 0 {
			fmt.Fprintf(c.ErrOut, "You may not list workloads, Services and policies of %s, so keys, ports and selectors are not judged there.\n", strings.Join(unread, ", "))
		}
	}
	if !c.quiet {
		fmt.Fprintf(c.ErrOut, "As if %s of manifests were applied; nothing is applied, and nothing is deleted.\n", count(m.Count(), "object"))
	}
	outside := m.Spread()
	if outside = slices.DeleteFunc(outside, func(of string) bool { return slices.Contains(l.namespaces, of) }); len(l.namespaces) > 0 && len(outside) > 0 {
		fmt.Fprintf(c.ErrOut, "Not seen: objects of manifests in %s, which the view leaves out.\n", strings.Join(outside, ", "))
	}
	c.tellWarnings(m)
	l.laid = laid
	return offline.NewOverlay(config, m).Config(config), nil
}

// runViewWith runs a command on a GraphView of the cluster with the manifests of --with. The objects are read in
// this process, with the user's rights.
func (s *source) runViewWith(cmd *cobra.Command, t target, next runFunc) error {
	c, in := s.cli, cmd.Flags().Lookup("in")
	name := t.view
	if name == "" {
		return usagef(cmd, "--with goes with --local, or with the name of a GraphView")
	}
	from, err := c.readLiveView(cmd, name)
	if err != nil {
		return err
	}
	return s.runLocal(cmd, nil, from, func(ctx context.Context) error {
		cmd.SetContext(ctx)
		if in != nil {
			if err := in.Value.Set(localName); err != nil {
				return err
			}
		}
		t.view = ""
		return next(cmd, t)
	})
}

// readLiveView reads a GraphView of the cluster, and the ReferenceRules as far as the user may list them.
func (c *cli) readLiveView(cmd *cobra.Command, name string) (fileView, error) {
	config, err := c.config.ToRESTConfig()
	if err != nil {
		return fileView{}, err
	}
	reader, err := dynamic.NewForConfig(config)
	if err != nil {
		return fileView{}, err
	}
	namespace, err := c.namespace()
	if err != nil {
		return fileView{}, err
	}
	ctx := cmd.Context()
	found, err := reader.Resource(v1alpha1.GroupVersion.WithResource("graphviews")).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fileView{}, fmt.Errorf("read GraphView %s/%s for --with: %w", namespace, name, err)
	}
	from := fileView{declared: &v1alpha1.GraphView{}, rules: map[string]v1alpha1.ReferenceRuleSpec{}}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, from.declared); err != nil {
		return fileView{}, fmt.Errorf("read GraphView %s/%s: %w", namespace, name, err)
	}
	rules, err := reader.Resource(v1alpha1.GroupVersion.WithResource("referencerules")).List(ctx, metav1.ListOptions{})
	if apierrors.IsForbidden(err) {
		fmt.Fprintln(c.ErrOut, "You may not list ReferenceRules, so references that only they declare are not seen.")
		return from, nil
	}
	if err != nil {
		return fileView{}, fmt.Errorf("list the ReferenceRules: %w", err)
	}
	for i := range rules.Items {
		rule := &v1alpha1.ReferenceRule{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(rules.Items[i].Object, rule); err != nil {
			return fileView{}, fmt.Errorf("ReferenceRule %s: %s", rules.Items[i].GetName(), printable.Text(err.Error()))
		}
		from.rules[rule.Name] = rule.Spec
	}
	return from, nil
}
