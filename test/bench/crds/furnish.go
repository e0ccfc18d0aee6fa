package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// The size of a definition: 1,512 definitions of 95 public projects have a median of 150
// fields, and ten kinds a group.
const (
	kindsOfGroup = 10
	sections     = 10 // of the spec
	fieldsOf     = 15 // a section
)

// furnish makes definitions, and waits until they are served.
func furnish(ctx context.Context, config *rest.Config, count int) error {
	config = rest.CopyConfig(config)
	config.QPS = -1
	client, err := apiextensions.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	some, limited := errgroup.WithContext(ctx)
	some.SetLimit(4)
	for i := range count {
		some.Go(func() error {
			_, err := client.CustomResourceDefinitions().Create(limited, definition(i), metav1.CreateOptions{})
			return err //nolint:wrapcheck // below
		})
	}
	if err := some.Wait(); err != nil {
		return fmt.Errorf("create a CustomResourceDefinition: %w", err)
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		list, err := client.CustomResourceDefinitions().List(waiting, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return fmt.Errorf("list CustomResourceDefinitions: %w", err)
		}
		established := 0
		for i := range list.Items {
			for _, c := range list.Items[i].Status.Conditions {
				if c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue {
					established++
				}
			}
		}
		if established >= count {
			break
		}
		time.Sleep(time.Second)
	}
	return published(waiting, client.RESTClient(), count)
}

// published waits until the schemas of all groups are.
func published(ctx context.Context, client rest.Interface, count int) error {
	for {
		index, err := client.Get().AbsPath("/openapi/v3").DoRaw(ctx)
		if err != nil {
			return fmt.Errorf("index of schemas: %w", err)
		}
		if strings.Count(string(index), ".crds.example.com/v1\":") >= (count+kindsOfGroup-1)/kindsOfGroup {
			return nil
		}
		time.Sleep(time.Second)
	}
}

func definition(i int) *apiextensionsv1.CustomResourceDefinition {
	group, kind := fmt.Sprintf("g%03d.crds.example.com", i/kindsOfGroup), fmt.Sprintf("Gadget%04d", i)
	plural := strings.ToLower(kind) + "s"
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped, Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schemaOf(i)},
			}},
		},
	}
}

// schemaOf has a few references among many other fields: Secrets, ConfigMaps, Services,
// and another kind of the group.
func schemaOf(i int) *apiextensionsv1.JSONSchemaProps {
	text := func(format string, a ...any) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "string", Description: fmt.Sprintf(format, a...)}
	}
	object := func(properties map[string]apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "object", Properties: properties}
	}
	spec := map[string]apiextensionsv1.JSONSchemaProps{}
	for section := range sections {
		fields := map[string]apiextensionsv1.JSONSchemaProps{
			"caSecret":  text("Name of the Secret with the certificate authority of section %d.", section),
			"partnerOf": text("Name of the Gadget%04d that this section is about.", i/kindsOfGroup*kindsOfGroup),
			"settings":  object(map[string]apiextensionsv1.JSONSchemaProps{"name": text("Name of the ConfigMap with the settings."), "key": text("The key to select.")}),
		}
		for field := range fieldsOf - len(fields) {
			fields[fmt.Sprintf("field%02d", field)] = text("Field %d says how section %d behaves, and has a description of about the length that they usually have.", field, section)
		}
		spec[fmt.Sprintf("section%02d", section)] = object(fields)
	}
	all := object(map[string]apiextensionsv1.JSONSchemaProps{"spec": object(spec)})
	return &all
}
