package command

import (
	"context"
	"errors"
	"fmt"
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
		err := fmt.Errorf("the server %s serves no graphs: it has no APIService %s. Install the operator with it (kubectl apply -k config/default), "+
			"use the operator's own port (--server, --certificate-authority and --token), or add --local to look without an operator", v.config.Host, apiService)
		words := slices.DeleteFunc(slices.Clone(v.args), func(word string) bool { return word == v.name || word == "--local=false" })
		return typed(err, append(words, "--local"))
	case errors.As(err, &closed) && closed.Reason == reason.Deleted:
		return fmt.Errorf("GraphView %s was deleted", v)
	case client.IsNotFound(err) && v.name != "":
		return v.noView(ctx)
	case v.name == "" && (client.IsForbidden(err) || closed != nil && closed.Reason == reason.Forbidden):
		if closed != nil {
			err = errors.New(closed.Message)
		}
		return fmt.Errorf("%w. Ad-hoc queries need the ClusterRole graphview-requester: "+
			"kubectl create clusterrolebinding NAME --clusterrole=graphview-requester --user=YOU", bare(err))
	case client.IsForbidden(err):
		return fmt.Errorf("%w. The right is in the ClusterRole graphview-viewer, and so in view, edit and admin: "+
			"kubectl -n %s create rolebinding NAME --clusterrole=graphview-viewer --user=YOU", bare(err), v.namespace)
	case apierrors.IsServiceUnavailable(err) && apierrors.HasStatusCause(err, "UnexpectedServerResponse"):
		return fmt.Errorf("the API server does not reach the operator: %w. See kubectl describe apiservice %s and kubectl -n graphview-system get pods, or add --local to look without the operator", bare(err), apiService)
	case closed != nil:
		return &refusal{text: fmt.Sprintf("%s: %s", v, closed.Message), closed: closed}
	default:
		return err
	}
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
