package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"graphview.dev/api/v1alpha1"
)

// linksAtOnce is the number of clusters that are asked at the same time.
const linksAtOnce = 16

// addAllLinks adds the flag for all members of a fleet.
func (c *cli) addAllLinks(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.allLinks, "all-links", false, "Ask the clusters of all ClusterLinks, through the hub of your kubeconfig; the exit code is 1 if one does not answer")
	check := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case c.allLinks && c.link != "":
			return usagef(cmd, "--link %s is for one cluster: leave it or --all-links out", c.link)
		case c.allLinks && c.local.on():
			return usagef(cmd, "--all-links: --local looks at the cluster of your kubeconfig; leave one of them out")
		case c.allLinks && len(args) > 0:
			return usagef(cmd, "--all-links is for all graphs of the clusters: leave %s or --all-links out", args[0])
		}
		return check(cmd, args)
	}
}

// linkAnswer is the answer of a member of a fleet, or the reason why there is none.
type linkAnswer[T any] struct {
	link   string
	answer T
	err    error
}

// askLinks asks the connected members of a fleet, each with a cli of its own, and returns an answer
// for each ClusterLink, by name. The messages about a member are printed in the same order. An error
// means that ClusterLinks cannot be listed.
func askLinks[T any](ctx context.Context, c *cli, ask func(context.Context, *cli) (T, error)) ([]linkAnswer[T], error) {
	links, err := c.clusterLinks(ctx)
	if err != nil {
		return nil, err
	}
	answers, said := make([]linkAnswer[T], len(links)), make([]bytes.Buffer, len(links))
	var asking errgroup.Group
	asking.SetLimit(linksAtOnce)
	for i := range links {
		answers[i].link = links[i].Name
		if connected := meta.FindStatusCondition(links[i].Status.Conditions, v1alpha1.ConditionConnected); connected == nil || connected.Status != metav1.ConditionTrue {
			answers[i].err = notConnected(connected)
			continue
		}
		asking.Go(func() error {
			one := *c
			one.link, one.allLinks, one.ErrOut = links[i].Name, false, &said[i]
			answers[i].answer, answers[i].err = ask(ctx, &one)
			return nil
		})
	}
	_ = asking.Wait() // errors are in the answers
	for i := range said {
		for line := range bytes.Lines(said[i].Bytes()) {
			fmt.Fprintf(c.ErrOut, "%s: %s", links[i].Name, line)
		}
	}
	return answers, ctx.Err()
}

// clusterLinks returns the ClusterLinks of the hub, by name.
func (c *cli) clusterLinks(ctx context.Context) ([]v1alpha1.ClusterLink, error) {
	v, err := c.open("")
	if err != nil {
		return nil, err
	}
	defer v.close()
	objects, err := v.dynamic()
	if err != nil {
		return nil, err
	}
	found, err := objects.Resource(v1alpha1.GroupVersion.WithResource("clusterlinks")).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list ClusterLinks at the hub: %w. The right to is in the ClusterRole graphview-fleet-viewer", bare(err))
	}
	if len(found.Items) == 0 {
		return nil, errors.New("there are no ClusterLinks: the cluster of your kubeconfig is no hub, or no cluster is linked to it")
	}
	links := make([]v1alpha1.ClusterLink, len(found.Items))
	for i := range found.Items {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Items[i].Object, &links[i]); err != nil {
			return nil, fmt.Errorf("list ClusterLinks at the hub: %w", err)
		}
	}
	slices.SortFunc(links, func(a, b v1alpha1.ClusterLink) int { return strings.Compare(a.Name, b.Name) })
	return links, nil
}

// notConnected returns the reason why a member cannot be asked.
func notConnected(connected *metav1.Condition) error {
	text := "not connected"
	if connected != nil {
		text += ": " + connected.Reason
		if connected.Message != "" {
			text += ": " + connected.Message
		}
	}
	return errors.New(text)
}
