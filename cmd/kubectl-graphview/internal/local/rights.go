package local

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview/access"
)

// freshFor is the time for which an answer about many places is used again. The engine asks at intervals of
// rightsInterval/2, so it is less.
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

	asking     singleflight.Group // for the rules in a namespace
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
	known := r.knownEverything()
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

func (r *Rights) knownEverything() answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.everything
}

// rulesIn returns the rights in a namespace.
func (r *Rights) rulesIn(ctx context.Context, namespace string) (rules, error) {
	known, err, _ := r.asking.Do(namespace, func() (any, error) { return r.askRules(ctx, namespace) })
	if err != nil {
		return rules{}, err
	}
	return known.(rules), nil //nolint:forcetypeassert // askRules returns it
}

func (r *Rights) askRules(ctx context.Context, namespace string) (rules, error) {
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

// Review is the access.Review of the user.
func (r *Rights) Review(ctx context.Context, _ user.Info, q access.Question) (bool, error) {
	if known := r.knownEverything(); known.may && r.fresh(known.at) {
		return true, nil
	}
	if q.Namespace != "" {
		known, err := r.rulesIn(ctx, q.Namespace)
		if may := known.allow(q.Verb, q.Group, q.Resource); err != nil || may || !known.incomplete {
			return may, err
		}
	}
	return r.review(ctx, sole, q)
}
