package local

import (
	"context"
	"fmt"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview/access"
)

// UnreadableError says that the user may list nothing in the scope of a view.
type UnreadableError struct {
	// Namespaces are those of the scope, nil for all.
	Namespaces []string
}

func (e *UnreadableError) Error() string {
	switch len(e.Namespaces) {
	case 0:
		return "you may not list namespaces, so it is not known which ones there are; name readable ones with -n a,b"
	case 1:
		return fmt.Sprintf("you may list nothing in namespace %q; name readable namespaces with -n a,b", e.Namespaces[0])
	default:
		return fmt.Sprintf("you may list nothing in the namespaces %q; name readable ones with -n a,b", e.Namespaces)
	}
}

// MayListNamespaces reports whether the user may list and watch the namespaces of the cluster.
func (r *Rights) MayListNamespaces(ctx context.Context) (bool, error) {
	if everything, err := r.Everything(ctx); err != nil || everything {
		return everything, err
	}
	place := access.Place{Resource: "namespaces"}
	answers, err := r.asker.Watchable(ctx, sole, []access.Place{place})
	return answers[place], err
}

// May answers one question about the user.
func (r *Rights) May(ctx context.Context, q access.Question) (bool, error) {
	return r.asker.Ask(ctx, sole, q)
}

// Check returns an error if one of the namespaces does not exist, as far as the user may ask, or an
// *UnreadableError if the user may list nothing in all of them. Without namespaces, the scope is all of
// them.
func (r *Rights) Check(ctx context.Context, config *rest.Config, namespaces []string) error {
	everything, err := r.Everything(ctx)
	if err != nil {
		return err
	}
	if len(namespaces) == 0 {
		if may, err := r.MayListNamespaces(ctx); err != nil || may {
			return err
		}
		return &UnreadableError{}
	}
	client, err := corev1client.NewForConfig(configFor(config))
	if err != nil {
		return err
	}
	readable := everything
	for _, namespace := range namespaces {
		may := everything
		if !everything {
			known, err := r.rulesIn(ctx, namespace)
			if err != nil {
				return err
			}
			may = known.allow("get", "", "namespaces")
			readable = readable || known.incomplete || known.some()
		}
		if !may {
			continue
		}
		if _, err := client.Namespaces().Get(ctx, namespace, metav1.GetOptions{}); apierrors.IsNotFound(err) {
			return fmt.Errorf("namespace %q not found", namespace)
		}
	}
	if !readable {
		return &UnreadableError{Namespaces: namespaces}
	}
	return nil
}

// some reports whether the rules allow to list and watch any resource.
func (s rules) some() bool {
	return slices.ContainsFunc(s.rules, func(rule authorizationv1.ResourceRule) bool {
		return slices.ContainsFunc(rule.APIGroups, func(group string) bool {
			return slices.ContainsFunc(rule.Resources, func(resource string) bool { return s.watchable(group, resource) })
		})
	})
}
