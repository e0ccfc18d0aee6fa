package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"graphview.dev/client"
)

// addLink adds the flag for the graphs of a member of a fleet.
func (c *cli) addLink(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.link, "link", "", "The ClusterLink of a cluster whose graphs to look at, through the hub of your kubeconfig; see kubectl get clusterlinks")
}

// errLinked is the reason why a GraphView of a member is not read: a hub serves only its graph.
var errLinked = errors.New("a hub serves the graphs of a member, and not its GraphViews")

// linkRemedy is remedy for the graphs of a member.
func (v *view) linkRemedy(err error) error {
	var closed *client.CloseError
	switch {
	case client.IsNotServed(err):
		return fmt.Errorf("the server %s serves no graphs, and so is no hub: it has no APIService %s. "+
			"Use the kubeconfig of the hub, or the port of its operator (--server, --certificate-authority and --token)", v.config.Host, apiService)
	case client.IsNotFound(err) && v.name != "":
		return fmt.Errorf("there is no GraphView %q in namespace %q of the cluster %s, or no ClusterLink of that name. See kubectl graphview list -A --link %s and kubectl get clusterlinks", v.name, v.namespace, v.link, v.link)
	case client.IsNotFound(err):
		return fmt.Errorf("%w. See kubectl get clusterlinks", bare(err))
	case client.IsForbidden(err) && byHub(err):
		return fmt.Errorf("%w. At the hub it takes get on clusters/proxy of %s (ClusterRole graphview-fleet-viewer)", bare(err), v.link)
	case client.IsForbidden(err):
		return fmt.Errorf("the cluster %s refuses: %w. The hub lets you in; there you are hub:NAME:YOU, with NAME the name of the hub, and your groups are hub:NAME:GROUP. "+
			"In that cluster: kubectl -n %s create rolebinding NAME --clusterrole=view --user=hub:NAME:YOU", v.link, bare(err), v.namespace)
	case apierrors.IsServiceUnavailable(err):
		return fmt.Errorf("%w. See kubectl describe clusterlink %s", bare(err), v.link)
	case errors.As(err, &closed):
		return &refusal{text: fmt.Sprintf("%s of the cluster %s: %s", v, v.link, closed.Message), closed: closed}
	default:
		return err
	}
}

// byHub reports whether the hub itself refused the cluster, and not the cluster a graph.
func byHub(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && status.ErrStatus.Details != nil && status.ErrStatus.Details.Kind == "clusters"
}
