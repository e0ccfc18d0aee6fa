package local

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview/access"
)

// freshFor is the time for which an answer about many places is used again. The engine asks at intervals of
// permitInterval/2, so it is less.
const freshFor = time.Minute

// Rights are the rights of the user of a kubeconfig to list and watch. The questions need no right: the API server
// answers every authenticated user.
//
// A user with the right to list and watch everything costs two requests. For others, one request returns the
// rights in a namespace, and one or two return each right in all namespaces.
type Rights struct {
	client authorizationclient.AuthorizationV1Interface
	asker  *access.Asker
	now    func() time.Time

	mu         sync.Mutex
	everything answer
	namespaces map[string]rules
}

// answer is the answer whether the user may list and watch everything.
type answer struct {
	may bool
	at  time.Time
}

// rules are the rights in a namespace.
type rules struct {
	rules []authorizationv1.ResourceRule
	// incomplete reports that an authorizer does not list its rules, so there may be more rights.
	incomplete bool
	at         time.Time
}

// sole is the user, for queues that share turns among users.
var sole = &user.DefaultInfo{Name: "local"}

// NewRights returns the rights of a configuration's user. It sends no request.
func NewRights(config *rest.Config) (*Rights, error) {
	client, err := authorizationclient.NewForConfig(configFor(config))
	if err != nil {
		return nil, err
	}
	r := &Rights{client: client, now: time.Now, namespaces: make(map[string]rules)}
	r.asker = access.New(access.Options{Review: r.review})
	return r, nil
}

// review asks about one right.
func (r *Rights) review(ctx context.Context, _ user.Info, q access.Question) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: q.Verb, Group: q.Group, Version: q.Version, Resource: q.Resource, Namespace: q.Namespace, Name: q.Name,
		},
	}}
	answer, err := r.client.SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return answer.Status.Allowed, nil
}

// Everything reports whether the user may list and watch all resources in all namespaces. It tries
// once, so its error says at once that the server cannot be reached.
func (r *Rights) Everything(ctx context.Context) (bool, error) {
	r.mu.Lock()
	known := r.everything
	r.mu.Unlock()
	if r.fresh(known.at) {
		return known.may, nil
	}
	known = answer{may: true, at: r.now()}
	for _, verb := range []string{"list", "watch"} {
		var err error
		if known.may, err = r.review(ctx, sole, access.Question{Verb: verb, Group: "*", Version: "*", Resource: "*"}); err != nil {
			return false, err
		}
		if !known.may {
			break
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.everything = known
	return known.may, nil
}

// rulesIn returns the rights in a namespace.
func (r *Rights) rulesIn(ctx context.Context, namespace string) (rules, error) {
	r.mu.Lock()
	known, ok := r.namespaces[namespace]
	r.mu.Unlock()
	if ok && r.fresh(known.at) {
		return known, nil
	}
	review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
	answer, err := r.client.SelfSubjectRulesReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return rules{}, fmt.Errorf("ask for your rights in namespace %s: %w", namespace, err)
	}
	known = rules{rules: answer.Status.ResourceRules, incomplete: answer.Status.Incomplete, at: r.now()}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.namespaces[namespace] = known
	return known, nil
}

func (r *Rights) fresh(at time.Time) bool { return !at.IsZero() && r.now().Sub(at) < freshFor }

// allow reports whether the rules allow a verb on all objects of a resource. A rule for single names
// does not.
func (s rules) allow(verb, group, resource string) bool {
	has := func(list []string, value string) bool {
		return slices.Contains(list, value) || slices.Contains(list, "*")
	}
	return slices.ContainsFunc(s.rules, func(rule authorizationv1.ResourceRule) bool {
		return len(rule.ResourceNames) == 0 && has(rule.Verbs, verb) && has(rule.APIGroups, group) && has(rule.Resources, resource)
	})
}

// watchable reports whether the rules allow to list and watch a resource.
func (s rules) watchable(group, resource string) bool {
	return s.allow("list", group, resource) && s.allow("watch", group, resource)
}

// Permit is a graphview.Permit.
func (r *Rights) Permit(ctx context.Context, places []access.Place) (map[access.Place]bool, error) {
	answers := make(map[access.Place]bool, len(places))
	everything, err := r.Everything(ctx)
	if err != nil {
		return answers, err
	}
	var open []access.Place
	for _, place := range places {
		if everything {
			answers[place] = true
			continue
		}
		if place.Namespace == "" {
			open = append(open, place)
			continue
		}
		known, err := r.rulesIn(ctx, place.Namespace)
		if err != nil {
			return answers, err
		}
		may := known.watchable(place.Group, place.Resource)
		if !may && known.incomplete {
			open = append(open, place)
			continue
		}
		answers[place] = may
	}
	if len(open) == 0 {
		return answers, nil
	}
	asked, err := r.asker.Watchable(ctx, sole, open)
	maps.Copy(answers, asked)
	return answers, err
}
