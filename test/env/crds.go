package env

import (
	"context"
	"encoding/json"
	"fmt"
	"path"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// InstallCRDs applies the CustomResourceDefinitions in the YAML files of a
// directory and waits until the objects of each served version can be listed: the
// condition Established alone comes a moment too early.
func (c *ControlPlane) InstallCRDs(ctx context.Context, dir string) error {
	for _, args := range [][]string{
		{"apply", "--server-side", "--force-conflicts", "--field-manager=" + manager, "-f", dir},
		{"wait", "--for=condition=Established", "--timeout=" + readyWithin.String(), "-f", dir},
	} {
		if _, err := c.Kubectl(ctx, args...); err != nil {
			return err
		}
	}
	text, err := c.Kubectl(ctx, "get", "customresourcedefinitions", "-o", "json")
	if err != nil {
		return err
	}
	var all apiextensionsv1.CustomResourceDefinitionList
	if err := json.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("CustomResourceDefinitions: %w", err)
	}
	client, done, err := c.client()
	if err != nil {
		return err
	}
	defer done()
	for i := range all.Items {
		spec := &all.Items[i].Spec
		for _, version := range spec.Versions {
			if !version.Served {
				continue
			}
			err := poll(ctx, func(ctx context.Context) (bool, error, error) {
				_, err := client.Discovery().RESTClient().Get().AbsPath(path.Join("/apis", spec.Group, version.Name, spec.Names.Plural)).Param("limit", "1").DoRaw(ctx)
				return err == nil, err, nil
			})
			if err != nil {
				return fmt.Errorf("CustomResourceDefinition %s: %w", all.Items[i].Name, err)
			}
		}
		c.logf("installed %s", all.Items[i].Name)
	}
	return nil
}
