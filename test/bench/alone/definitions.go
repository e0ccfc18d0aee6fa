package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"graphview.dev/test/bench/load"
	"graphview.dev/test/must"
)

// kindsOfGroup is how many kinds a group has, as those of 95 public projects.
const kindsOfGroup = 10

// definition has the size of the median of 1,512 definitions of these projects, 150 fields: ten
// sections of fifteen. It has a few references among many other fields: Secrets, ConfigMaps, and
// another kind of the group.
var definition = load.Parse(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadget{{.Number}}s.{{.Group}}}
spec:
  group: {{.Group}}
  scope: Namespaced
  names: {plural: gadget{{.Number}}s, kind: Gadget{{.Number}}}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              {{- range $section := .Count 10}}
              section{{$section}}:
                type: object
                properties:
                  caSecret: {type: string, description: Name of the Secret with the certificate authority of section {{$section}}.}
                  partnerOf: {type: string, description: Name of the Gadget{{$.First}} that this section is about.}
                  settings:
                    type: object
                    properties:
                      name: {type: string, description: Name of the ConfigMap with the settings.}
                      key: {type: string, description: The key to select.}
                  {{- range $field := $.Count 12}}
                  field{{$field}}:
                    type: string
                    description: Field {{$field}} says how section {{$section}} behaves, and has a description of about the length that they usually have.
                  {{- end}}
              {{- end}}
`)

// gadget is what the definition of a kind sees. First is the number of the first kind of its group.
type gadget struct {
	*load.Scope

	Group, Number, First string
}

// define makes definitions, and waits until they are served and the schemas of all groups are
// published.
func define(ctx context.Context, config *rest.Config, count int) {
	m := must.Get(load.NewMaker(config))
	must.Do(load.Each(ctx, count, func(ctx context.Context, i int) error {
		scope, group := load.NewScope(i), i/kindsOfGroup
		g := gadget{scope, fmt.Sprintf("g%03d.crds.example.com", group), fmt.Sprintf("%04d", i), fmt.Sprintf("%04d", group*kindsOfGroup)}
		return m.Create(ctx, definition, g, scope)
	}))
	client := must.Get(apiextensions.NewForConfig(config))
	until := func(done wait.ConditionWithContextFunc) {
		must.Do(wait.PollUntilContextTimeout(ctx, time.Second, patience, true, done))
	}
	until(func(ctx context.Context) (bool, error) {
		established := 0
		list := must.Get(client.CustomResourceDefinitions().List(ctx, metav1.ListOptions{ResourceVersion: "0"}))
		for i := range list.Items {
			if apihelpers.IsCRDConditionTrue(&list.Items[i], apiextensionsv1.Established) {
				established++
			}
		}
		return established >= count, nil
	})
	until(func(ctx context.Context) (bool, error) {
		index := must.Get(client.RESTClient().Get().AbsPath("/openapi/v3").DoRaw(ctx))
		return strings.Count(string(index), ".crds.example.com/v1\":") >= (count+kindsOfGroup-1)/kindsOfGroup, nil
	})
}
