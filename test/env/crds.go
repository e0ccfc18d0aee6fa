package env

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// InstallCRDs applies the CustomResourceDefinitions in the YAML files of a
// directory and waits until each of their served versions can be listed: the
// condition Established alone comes a moment too early.
func (c *ControlPlane) InstallCRDs(ctx context.Context, dir string) error {
	objects, err := readDir(dir)
	if err != nil {
		return err
	}
	clients, done, err := c.clients()
	if err != nil {
		return err
	}
	defer done()
	for _, object := range objects {
		if err := c.apply(ctx, object, crds); err != nil {
			return err
		}
	}
	for _, object := range objects {
		if err := established(ctx, clients, object.GetName()); err != nil {
			return fmt.Errorf("CustomResourceDefinition %s: %w", object.GetName(), err)
		}
		c.logf("installed %s", object.GetName())
	}
	return nil
}

func established(ctx context.Context, clients dynamic.Interface, name string) error {
	return poll(ctx, func(ctx context.Context) (bool, error, error) {
		crd, err := clients.Resource(crds).Get(ctx, name, getOptions)
		if err != nil {
			return false, err, nil
		}
		if status, message := condition(crd, "Established"); status != "True" {
			return false, fmt.Errorf("not Established: %s", message), nil
		}
		group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
		plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
		versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		for _, version := range versions {
			version, _ := version.(map[string]any)
			if served, _ := version["served"].(bool); !served {
				continue
			}
			name, _ := version["name"].(string)
			resource := schema.GroupVersionResource{Group: group, Version: name, Resource: plural}
			if _, err := clients.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1}); err != nil {
				return false, err, nil
			}
		}
		return true, nil, nil
	})
}

// condition returns the status and message of an object's condition.
func condition(object *unstructured.Unstructured, kind string) (status, message string) {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, entry := range conditions {
		entry, _ := entry.(map[string]any)
		if entry["type"] == kind {
			status, _ = entry["status"].(string)
			message, _ = entry["message"].(string)
			return status, message
		}
	}
	return "", "no condition " + kind
}

// readDir reads the objects of a directory's YAML files; none is an error.
func readDir(dir string) ([]*unstructured.Unstructured, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", dir, err)
	}
	var objects []*unstructured.Unstructured
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read manifests: %w", err)
		}
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
		for {
			var content map[string]any
			if err := decoder.Decode(&content); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("read %s: %w", file, err)
			}
			if object := (&unstructured.Unstructured{Object: content}); object.GetKind() == "CustomResourceDefinition" {
				objects = append(objects, object)
			}
		}
	}
	if len(objects) == 0 {
		return nil, fmt.Errorf("read %s: no CustomResourceDefinition in its *.yaml files", dir)
	}
	return objects, nil
}
