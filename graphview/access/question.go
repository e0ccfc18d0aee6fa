package access

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
)

// Place is a resource in a namespace. Namespace is "" for cluster-scoped resources and,
// in a question, for all namespaces.
type Place struct {
	Group, Resource, Namespace string
}

// Question asks whether a user is allowed an action: on a resource or, if Path is set,
// on a non-resource path.
type Question struct {
	Verb, Group, Version, Resource, Subresource, Namespace, Name string

	// FieldSelector and LabelSelector restrict a list or a watch. They have the syntax of a URL.
	FieldSelector, LabelSelector string

	Path string
}

// String returns the verb and the resource or path, without the namespace and the name.
func (q Question) String() string {
	switch {
	case q.Path != "":
		return q.Verb + " " + q.Path
	case q.Group != "":
		return q.Verb + " " + q.Resource + "." + q.Group
	default:
		return q.Verb + " " + q.Resource
	}
}

// Review answers one question. An error means that the answer is unknown.
type Review func(ctx context.Context, who user.Info, q Question) (bool, error)

// NewReview returns a Review that asks the API server of a configuration each time, without a cache and
// without a limit of its own.
func NewReview(config *rest.Config) (Review, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	client, err := authorizationclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("authorization client: %w", err)
	}
	return SubjectAccessReviews(client.SubjectAccessReviews()), nil
}

// SubjectAccessReviews returns a Review that asks the API server each time, without a cache.
func SubjectAccessReviews(client authorizationclient.SubjectAccessReviewInterface) Review {
	return func(ctx context.Context, who user.Info, q Question) (bool, error) {
		review := &authorizationv1.SubjectAccessReview{Spec: specOf(who, q)}
		answer, err := client.Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return false, err
		}
		return answer.Status.Allowed, nil
	}
}

func specOf(subject user.Info, q Question) authorizationv1.SubjectAccessReviewSpec {
	extra := make(map[string]authorizationv1.ExtraValue, len(subject.GetExtra()))
	for key, values := range subject.GetExtra() {
		extra[key] = values
	}
	spec := authorizationv1.SubjectAccessReviewSpec{User: subject.GetName(), UID: subject.GetUID(), Groups: subject.GetGroups(), Extra: extra}
	if q.Path != "" {
		spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Verb: q.Verb, Path: q.Path}
		return spec
	}
	spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
		Verb: q.Verb, Group: q.Group, Version: q.Version, Resource: q.Resource, Subresource: q.Subresource,
		Namespace: q.Namespace, Name: q.Name,
	}
	if q.FieldSelector != "" {
		spec.ResourceAttributes.FieldSelector = &authorizationv1.FieldSelectorAttributes{RawSelector: q.FieldSelector}
	}
	if q.LabelSelector != "" {
		spec.ResourceAttributes.LabelSelector = &authorizationv1.LabelSelectorAttributes{RawSelector: q.LabelSelector}
	}
	return spec
}

// Result names the outcome of a review for metrics.
func Result(allowed bool, err error) string {
	switch {
	case err != nil:
		return "error"
	case allowed:
		return "allowed"
	default:
		return "denied"
	}
}
