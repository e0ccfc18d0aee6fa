package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"graphview.dev/api/reason"
	"graphview.dev/client"
	"graphview.dev/graphview/advice"
)

const apiService = "v1alpha1.stream.graphview.dev"

// remedy adds to an error the step that the user can take.
func (v *view) remedy(ctx context.Context, err error) error {
	var closed *client.CloseError
	switch {
	case ctx.Err() != nil:
		return err
	case v.local.serves():
		return v.localRemedy(err)
	case v.link != "":
		return v.linkRemedy(err)
	case client.IsNotServed(err):
		err := fmt.Errorf("the server %s serves no graphs: it has no APIService %s. Install the operator (docs/install.md), "+
			"use the operator's own port (--server, --certificate-authority and --token), or add --local to look without an operator", v.config.Host, apiService)
		return v.asLocal(err)
	case errors.As(err, &closed) && closed.Reason == reason.Deleted:
		return fmt.Errorf("GraphView %s was deleted", v)
	case client.IsNotFound(err) && v.name != "":
		return v.noView(ctx)
	case v.name == "" && closed != nil && closed.Reason == reason.Forbidden:
		return v.noRequests(errors.New(closed.Message))
	case v.name == "" && client.IsForbidden(err) && !aboutGraphs(err):
		return v.noRequests(bare(err))
	case client.IsForbidden(err) && v.everywhere:
		return fmt.Errorf("%w. In a single namespace (-n) the right is in the ClusterRole graphview-viewer, and so in view, edit and admin; for all namespaces: "+
			"kubectl create clusterrolebinding NAME --clusterrole=graphview-viewer --user=YOU", bare(err))
	case client.IsForbidden(err):
		return fmt.Errorf("%w. The right is in the ClusterRole graphview-viewer, and so in view, edit and admin: "+
			"kubectl -n %s create rolebinding NAME --clusterrole=graphview-viewer --user=YOU", bare(err), v.namespace)
	case operatorAway(err):
		return v.asLocal(fmt.Errorf("the API server does not reach the operator: %w. See kubectl describe apiservice %s and kubectl -n graphview-system get pods, or look without the operator, with --local", bare(err), apiService))
	case closed != nil:
		return &refusal{text: fmt.Sprintf("%s: %s", v, closed.Message), closed: closed}
	default:
		return err
	}
}

// operatorAway reports whether the API server does not reach the operator.
func operatorAway(err error) bool {
	return apierrors.IsServiceUnavailable(err) && apierrors.HasStatusCause(err, "UnexpectedServerResponse")
}

// aboutGraphs reports whether a refusal is about the graphs of GraphViews, and not about ad-hoc views.
func aboutGraphs(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && status.ErrStatus.Details != nil && status.ErrStatus.Details.Kind == "graphs"
}

// noRequests is the error for a user who may not request ad-hoc views.
func (v *view) noRequests(err error) error {
	instead := "--local looks with your own rights"
	if v.command != nil && v.command.Flags().Lookup("in") != nil {
		instead = "--in NAME looks in a GraphView, and " + instead
	}
	return v.asLocal(fmt.Errorf("%w. %s; ad-hoc views take the ClusterRole graphview-requester: "+
		"kubectl create clusterrolebinding NAME --clusterrole=graphview-requester --user=YOU", err, instead))
}

// asLocal adds to an error the command line that looks with the user's own rights; for a command that does not, tree.
func (v *view) asLocal(err error) error {
	if v.command == nil || v.command.Flags().Lookup("local") == nil {
		return v.correct(err, nil, append([]string{"tree"}, localWords(v.everywhere)...))
	}
	words := slices.DeleteFunc(slices.Clone(v.args), func(word string) bool {
		return word == v.name || word == "--in" || word == "--in="+v.name || word == "--local=false"
	})
	return typed(err, append(words, "--local"))
}

// withoutServer adds to an error about a connection that no kubeconfig names a server.
func (c *cli) withoutServer(err error) error {
	if _, dials := errors.AsType[*net.OpError](err); !dials || *c.config.APIServer != "" || os.Getenv("KUBERNETES_SERVICE_HOST") != "" {
		return err
	}
	if raw, failed := c.config.ToRawKubeConfigLoader().RawConfig(); failed != nil || len(raw.Clusters) > 0 {
		return err
	}
	return fmt.Errorf("no kubeconfig names a cluster: set KUBECONFIG or --kubeconfig, and choose with --context. Without a cluster, --from PATH looks at manifests (%w)", err)
}

// refusal is the end of a stream by a server, in words for people. Commands that can open another graph instead
// look at its cause.
type refusal struct {
	text   string
	closed *client.CloseError
}

func (e *refusal) Error() string { return e.text }
func (e *refusal) Unwrap() error { return e.closed }

// bare returns the server's own part of an error, which names the graph.
func bare(err error) error {
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return errors.New(strings.TrimSuffix(status.ErrStatus.Message, "."))
	}
	return err
}

// noView is the error for a GraphView that does not exist. It suggests a similar name here, or
// this name elsewhere.
func (v *view) noView(ctx context.Context) error {
	err := func(more string) error {
		return fmt.Errorf("there is no GraphView %q in namespace %s%s", v.name, v.namespace, more)
	}
	graphs, failed := v.client.List(ctx, "")
	if failed != nil {
		graphs, failed = v.client.List(ctx, v.namespace)
	}
	if failed != nil {
		return err(". See kubectl get graphs")
	}
	var here, elsewhere []string
	for _, g := range graphs {
		switch {
		case g.Namespace == v.namespace:
			here = append(here, g.Name)
		case g.Name == v.name:
			elsewhere = append(elsewhere, g.Namespace)
		}
	}
	slices.Sort(here)
	slices.Sort(elsewhere)
	near := advice.Nearest(v.name, here, 1)
	switch {
	case len(elsewhere) > 0:
		return v.elsewhere(err("; there is one with -n "+strings.Join(elsewhere[:min(len(elsewhere), mostSimilar)], ", -n ")), elsewhere[0])
	case len(near) > 0:
		return v.replaced(err(didYouMean(v.name, here, func(s string) string { return s })), v.name, near[0])
	case isExisting(v.name) && v.command != nil && v.command.Flags().Lookup("from") != nil:
		words := slices.Clone(v.args)
		if at := slices.Index(words, v.name); at >= 0 {
			words = slices.Insert(words, at, "--from")
		}
		return typed(err(", but a file or folder: --from looks at manifests"), words)
	case v.isKind(v.name):
		return typed(err(", which is a kind: an object is KIND/NAME, and list shows the GraphViews"), []string{"list", "-n", v.namespace})
	case len(here) > 0:
		return v.replaced(err("; there are "+strings.Join(here[:min(len(here), mostSimilar)], ", ")), v.name, here[0])
	}
	return err(". See kubectl get graphs -A")
}

// elsewhere adds the command line with another namespace.
func (v *view) elsewhere(err error, namespace string) error {
	if better, ok := errors.AsType[*correction](v.replaced(err, v.namespace, namespace)); ok && *v.cli.config.Namespace != "" {
		return better
	}
	return typed(err, append(slices.Clone(v.args), "-n", namespace))
}

// localRemedy is remedy for graphs that this process serves.
func (v *view) localRemedy(err error) error {
	closed, ok := errors.AsType[*client.CloseError](err)
	switch {
	case ok && closed.Reason == reason.LimitExceeded:
		return &refusal{text: closed.Message + ". With --local, name fewer namespaces with -n, or write a narrower view for -f", closed: closed}
	case ok:
		return &refusal{text: closed.Message, closed: closed}
	default:
		return bare(err)
	}
}
