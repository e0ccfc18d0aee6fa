package env

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Apply applies the objects of a manifest, in its order, as kubectl apply --server-side --force-conflicts does, and
// returns them. It takes a tenth of the processor time of kubectl, which reads the OpenAPI documents of the API server
// each time.
func (c *ControlPlane) Apply(ctx context.Context, manifest string, options ...client.ApplyOption) ([]*unstructured.Unstructured, error) {
	objects, err := Objects(manifest)
	if err != nil {
		return nil, err
	}
	return objects, c.ApplyObjects(ctx, objects, options...)
}

// ApplyObjects is Apply for objects that are parsed already. It sets each to the API server's answer. After a namespace it
// calls AwaitNamespace.
func (c *ControlPlane) ApplyObjects(ctx context.Context, objects []*unstructured.Unstructured, options ...client.ApplyOption) error {
	api, done, err := c.dynamicClient()
	if err != nil {
		return err
	}
	defer done()
	options = append([]client.ApplyOption{client.FieldOwner("kubectl"), client.ForceOwnership}, options...)
	dry := len((&client.ApplyOptions{}).ApplyOptions(options).DryRun) > 0
	for _, object := range objects {
		kind := object.GroupVersionKind()
		mapping, err := api.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			return fmt.Errorf("apply %s %s: %w", kind.Kind, object.GetName(), err)
		}
		if mapping.Scope.Name() == meta.RESTScopeNameNamespace && object.GetNamespace() == "" {
			object.SetNamespace("default")
		}
		if err := api.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), options...); err != nil {
			return fmt.Errorf("apply %s %s: %w", kind.Kind, object.GetName(), err)
		}
		if kind.Group == "" && kind.Kind == "Namespace" && !dry {
			if err := c.AwaitNamespace(ctx, object.GetName()); err != nil {
				return err
			}
		}
	}
	return nil
}

// dynamicClient returns a client for objects of all kinds, with a connection of its own; done closes it.
func (c *ControlPlane) dynamicClient() (api client.Client, done func(), err error) {
	config := c.Config()
	config.WarningHandler = rest.NoWarnings{} // of deprecated kinds
	http, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, nil, fmt.Errorf("client of %s: %w", apiServer, err)
	}
	if api, err = client.New(config, client.Options{HTTPClient: http}); err != nil {
		return nil, nil, fmt.Errorf("client of %s: %w", apiServer, err)
	}
	return api, http.CloseIdleConnections, nil
}

// Objects returns the objects of a manifest, in its order.
func Objects(manifest string) (objects []*unstructured.Unstructured, err error) {
	for documents := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), 4096); ; {
		object := &unstructured.Unstructured{}
		err := documents.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read a manifest: %w", err)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}
