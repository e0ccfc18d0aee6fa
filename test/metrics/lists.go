package metrics

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// Lists counts the lists of some resources that an API server has answered so far.
func Lists(ctx context.Context, config *rest.Config, resources ...schema.GroupResource) (sum float64, err error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return 0, err
	}
	defer client.CloseIdleConnections()
	families, err := Read(ctx, client, config.Host+"/metrics")
	if err != nil {
		return 0, err
	}
	for _, r := range resources {
		answered, err := families.Sum("apiserver_request_total", "verb", "LIST", "group", r.Group, "resource", r.Resource)
		if err != nil && !errors.Is(err, ErrNone) {
			return 0, err
		}
		sum += answered
	}
	return sum, nil
}
