package client

import (
	"context"
	"fmt"
	"net/url"
)

// GetObject returns one vertex of a graph. The key needs no version. The error is
// IsNotFound for a missing object and for a vertex that the user may not see.
func (c *Client) GetObject(ctx context.Context, namespace, name string, key Key) (*GraphObject, error) {
	query := url.Values{"resource": {key.Resource}, "name": {key.Name}}
	for parameter, value := range map[string]string{"group": key.Group, "version": key.Version, "namespace": key.Namespace} {
		if value != "" {
			query.Set(parameter, value)
		}
	}
	o := &GraphObject{}
	if err := c.getAnswer(ctx, c.url(query, "namespaces", namespace, "graphs", name, "object"), o); err != nil {
		return nil, fmt.Errorf("get %s of graph %s/%s: %w", key, namespace, name, err)
	}
	return o, nil
}
