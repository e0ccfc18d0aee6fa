package oracle

import (
	"context"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// Snapshot builds the graphs of several views at one time. It lists each resource once, at
// the first use, or once for each namespace that is the only one of a view. A snapshot belongs to one goroutine and ends with Close.
type Snapshot struct {
	http   *http.Client
	client dynamic.Interface
	served []resource
	lists  map[listing][]unstructured.Unstructured
	// schemas are the schemas of the tests' kinds; nil before the first use.
	schemas schemas
}

// listing has the parameters of a list.
type listing struct {
	resource, namespace, labels, fields string
}

// Take begins a snapshot with the resources that the API server serves. The configuration's user
// must have the right to list the resources that views select.
func Take(config *rest.Config) (*Snapshot, error) {
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{} // of deprecated kinds, which views have too
	config.DisableCompression = true          // which takes an API server on the same machine more time than the bytes
	// Separate connections, which Close closes.
	connections, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	s := &Snapshot{http: connections, lists: make(map[listing][]unstructured.Unstructured)}
	if s.client, err = dynamic.NewForConfigAndClient(config, connections); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if s.served, err = discover(config, connections); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the snapshot's connections.
func (s *Snapshot) Close() { s.http.CloseIdleConnections() }

// items returns the objects of a resource that its selectors match: those of one namespace, or, if it is empty,
// of all. A resource that cannot be read has none: it is forbidden or deleted, or its selector is refused.
func (s *Snapshot) items(ctx context.Context, r resource, namespace string) ([]unstructured.Unstructured, error) {
	key := listing{r.GroupVersionResource.String(), "", r.filter.LabelSelector, r.filter.FieldSelector}
	if found, ok := s.lists[key]; ok {
		return found, nil
	}
	key.namespace = namespace
	if found, ok := s.lists[key]; ok {
		return found, nil
	}
	answer, err := s.client.Resource(r.GroupVersionResource).Namespace(namespace).List(ctx, metav1.ListOptions{
		LabelSelector: r.filter.LabelSelector, FieldSelector: r.filter.FieldSelector,
	})
	switch {
	case err == nil:
		s.lists[key] = answer.Items
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err), apierrors.IsBadRequest(err):
		s.lists[key] = nil
	default:
		return nil, fmt.Errorf("list %s: %w", r.GroupVersionResource, err)
	}
	return s.lists[key], nil
}
