package env

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// InstallCRDs applies the CustomResourceDefinitions in the YAML files of a
// directory and waits until the objects of each served version can be listed: the
// condition Established alone comes a moment too early.
func (c *ControlPlane) InstallCRDs(ctx context.Context, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("CustomResourceDefinitions: there is no YAML file in %s", dir)
	}
	client, done, err := c.client()
	if err != nil {
		return err
	}
	defer done()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("CustomResourceDefinitions: %w", err)
		}
		objects, err := c.Apply(ctx, string(text))
		if err != nil {
			return err
		}
		for _, object := range objects {
			definition := &apiextensionsv1.CustomResourceDefinition{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, definition); err != nil {
				return fmt.Errorf("CustomResourceDefinition %s: %w", object.GetName(), err)
			}
			for _, version := range definition.Spec.Versions {
				if !version.Served {
					continue
				}
				err := poll(ctx, func(ctx context.Context) (bool, error, error) {
					_, err := client.Discovery().RESTClient().Get().AbsPath(path.Join("/apis", definition.Spec.Group, version.Name, definition.Spec.Names.Plural)).Param("limit", "1").DoRaw(ctx)
					return err == nil, err, nil
				})
				if err != nil {
					return fmt.Errorf("CustomResourceDefinition %s: %w", definition.Name, err)
				}
			}
			c.logf("installed %s", definition.Name)
		}
	}
	return nil
}
