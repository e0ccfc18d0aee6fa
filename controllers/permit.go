package controllers

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview"
	"graphview.dev/graphview/access"
)

// Permit asks the API server's authorizer which places ServiceAccounts may list and watch. The engine
// keeps the answers.
type Permit struct {
	asker *access.Asker
	asked *prometheus.CounterVec
}

// NewPermit asks with the given configuration.
func NewPermit(config *rest.Config) (*Permit, error) {
	config = rest.CopyConfig(config)
	// The asker limits its requests itself.
	config.QPS = -1
	client, err := authorizationclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("authorization client: %w", err)
	}
	return newPermit(access.SubjectAccessReviews(client.SubjectAccessReviews())), nil
}

func newPermit(review access.Review) *Permit {
	p := &Permit{asked: reviewsTotal()}
	p.asker = access.New(access.Options{Review: review, Reviewed: func(allowed bool, err error) {
		p.asked.WithLabelValues(resultOf(allowed, err)).Inc()
	}})
	return p
}

// Allowed reports for each place whether a ServiceAccount may list and watch it. The namespace "" stands
// for all. After an error, places without an answer are missing.
func (p *Permit) Allowed(ctx context.Context, account graphview.Name, places []access.Place) (map[access.Place]bool, error) {
	return p.asker.Watchable(ctx, accountUser(account), places)
}

// accountUser is a ServiceAccount as the API server authenticates it.
func accountUser(account graphview.Name) user.Info {
	return &user.DefaultInfo{
		Name:   serviceaccount.MakeUsername(account.Namespace, account.Name),
		Groups: append(serviceaccount.MakeGroupNames(account.Namespace), user.AllAuthenticated),
	}
}
