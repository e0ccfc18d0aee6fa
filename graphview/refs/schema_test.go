package refs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"graphview.dev/graphview/graph"
)

// schemaOf reads the properties of a schema as a CustomResourceDefinition has them.
func schemaOf(t *testing.T, text string) *Schema {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return schemaFrom(map[string]any{"type": "object", "properties": map[string]any{"spec": map[string]any{"type": "object", "properties": value}}})
}

func schemaFrom(value any) *Schema {
	object, _ := value.(map[string]any)
	if object == nil {
		return nil
	}
	s := &Schema{Closed: object["enum"] != nil, Embedded: object["x-kubernetes-embedded-resource"] == true}
	s.Type, _ = object["type"].(string)
	s.Description, _ = object["description"].(string)
	s.Items, s.Values = schemaFrom(object["items"]), schemaFrom(object["additionalProperties"])
	properties, _ := object["properties"].(map[string]any)
	for key, below := range properties {
		s.Properties = append(s.Properties, Property{key, schemaFrom(below)})
	}
	slices.SortFunc(s.Properties, func(a, b Property) int { return strings.Compare(a.Key, b.Key) })
	return s
}

// TestTell reads schemas as their authors write them.
func TestTell(t *testing.T) {
	for name, test := range map[string]struct {
		served []string
		kind   string
		schema string
		want   string
	}{
		"NameOfAKind": {
			served: []string{"example.com/Exchange"},
			schema: `
				routes: {type: array, items: {type: object, properties: {target: {type: string, description: The name of the Exchange that messages go to.}}}}
				from: {type: string, description: Name of the exchange to read.}`,
			want: `
				spec.from example.com/Exchange inferred
				spec.routes[].target example.com/Exchange inferred`,
		},
		"KeyAndDescriptionSayASecret": {
			schema: `
				caSecret: {type: string, description: Name of the Secret with the CA.}
				tokens: {type: array, description: Names of the secrets to read., items: {type: string}}
				vaultSecret: {type: string, description: Name of the secret in Vault.}`,
			want: `
				spec.caSecret core/Secret
				spec.tokens[] core/Secret inferred
				spec.vaultSecret core/Secret inferred`,
		},
		"WhatConventionsSayIsNotRepeated": {
			schema: `
				secretName: {type: string, description: Name of the Secret with the CA.}
				configRef: {type: object, properties: {name: {type: string}}}`,
		},
		"ConventionThatTheDescriptionContradicts": {
			schema: `credentialsSecretName: {type: string, description: "Prefix of the name of the secret that is made."}`,
			want:   `spec.credentialsSecretName core/Secret inferred`,
		},
		"KeySelectors": {
			schema: `
				rules: {type: object, properties: {name: {type: string}, key: {type: string, description: The key to select.}, optional: {type: boolean}}}
				auth: {type: object, properties: {name: {type: string}, key: {type: string, description: The key of the secret to select from.}}}
				bucket: {type: object, properties: {name: {type: string}, key: {type: string}}}`,
			want: `
				spec.auth.name core/Secret
				spec.bucket.name core/ConfigMap inferred
				spec.bucket.name core/Secret inferred
				spec.rules.name core/ConfigMap`,
		},
		"ObjectWithAName": {
			served: []string{"example.com/Store", "example.com/ClusterStore*"},
			schema: `
				from: {type: object, description: Reference to a Store or ClusterStore., properties: {name: {type: string}, namespace: {type: string}}}
				ports: {type: array, items: {type: object, properties: {name: {type: string, description: The name of this port within the service.}}}}
				services: {type: array, items: {type: object, properties: {name: {type: string, description: Name of the Service.}}}}
				backends: {type: array, items: {type: object, properties: {service: {type: object, properties: {name: {type: string, description: Name of the Service.}}}}}}
				steps: {type: array, items: {type: object, properties: {name: {type: string, description: Name of this Store.}}}}`,
			want: `
				spec.backends[].service.name core/Service
				spec.from.name example.com/ClusterStore inferred
				spec.from.name example.com/Store inferred ns=namespace
				spec.services[].name core/Service inferred`,
		},
		"NoName": {
			served: []string{"example.com/Group"},
			schema: `
				port: {type: string, description: Name of the Service port.}
				secretKey: {type: string, description: Name of the Secret key.}
				mode: {type: string, description: Name of the Service., enum: [a, b]}
				field: {type: string, description: The key of the Secret.}
				group: {type: string, description: The group of the resource.}`,
		},
		"ClosedKeyThatConventionsTake": {
			schema: `secretName: {type: string, enum: [a, b]}`,
			want:   `spec.secretName silent`,
		},
		"PodSpec": {
			schema: `
				template: {type: object, properties: {spec: {type: object, properties: {
				  containers: {type: array, items: {type: object, properties: {name: {type: string}, image: {type: string}, livenessProbe: {type: object, properties: {grpc: {type: object, properties: {service: {type: string, description: Name of the Service to probe.}}}}}}}},
				  resourceClaims: {type: array, items: {type: object, properties: {name: {type: string}, resourceClaimName: {type: string}}}},
				  serviceAccountName: {type: string}}}}}`,
			want: `
				spec.template.spec.resourceClaims[].resourceClaimName resource.k8s.io/ResourceClaim
				spec.template.spec.serviceAccountName core/ServiceAccount`,
		},
		"VolumesAndClaims": {
			schema: `
				storage: {type: object, properties: {storageClassName: {type: string}, accessModes: {type: array, items: {type: string}}, resources: {type: object}}}
				extra: {type: object, properties: {configMap: {type: object, properties: {name: {type: string}}}, emptyDir: {type: object}, secret: {type: object, properties: {secretName: {type: string}}}}}`,
			want: `
				spec.extra.configMap.name core/ConfigMap
				spec.extra.secret.secretName core/Secret
				spec.storage.storageClassName storage.k8s.io/StorageClass`,
		},
		"Selectors": {
			served: []string{"example.com/Widget", "example.com/Gadget"},
			schema: `
				targets: {type: object, description: Selects Gadgets to be used., properties: {matchLabels: {type: object}, matchExpressions: {type: array}}}
				any: {type: object, description: Selects things., properties: {matchLabels: {type: object}, matchExpressions: {type: array}}}`,
			want: `spec.targets example.com/Gadget selector`,
		},
		"SelectorOfWhatBelongsToIt": {
			served: []string{"example.com/Widget"},
			schema: `parts: {type: object, description: Matches all the pods managed by this Widget., properties: {matchLabels: {type: object}, matchExpressions: {type: array}}}`,
		},
		"WhatIsExternalIsNoObject": {
			served: []string{"example.com/Cluster", "example.com/ExternalStore"},
			schema: `
				externalClusters: {type: array, description: The list of external clusters., items: {type: object, properties: {name: {type: string, description: The server name.}}}}
				source: {type: string, description: The name of the external cluster which is the origin.}
				recovery: {type: string, description: "The external cluster whose backup we restore. It must be the name of the source cluster."}
				store: {type: string, description: Name of the external Store.}
				vaultSecretName: {type: string, description: Name of the external secret.}`,
			want: `spec.store example.com/ExternalStore inferred`,
		},
		"Default": {
			served: []string{"example.com/Cluster"},
			schema: `
				server: {type: string, description: "The server name, the cluster name is used if this parameter is omitted"}
				folder: {type: string, description: Defaults to the name of the Cluster.}
				uses: {type: string, description: The cluster name is used to find the servers.}`,
			want: `spec.uses example.com/Cluster inferred`,
		},
		"Negation": {
			served: []string{"example.com/Cluster"},
			schema: `module: {type: string, description: It is mandatory when no Cluster reference is provided.}`,
		},
		"Alias": {
			served: []string{"example.com/Cluster"},
			schema: `
				clusterName: {type: string, description: An alias for the cluster by which a pipeline refers to the Cluster.}
				cluster: {type: string, description: Deprecated alias for the name of the Cluster.}`,
			want: `
				spec.cluster example.com/Cluster inferred
				spec.clusterName silent`,
		},
		"IdentifierOfADeclaration": {
			schema: `serviceRefs: {type: array, description: Defines a list of references to a Service., items: {type: object, properties: {name: {type: string, description: The identifier of the service reference declaration.}}}}`,
			want:   `spec.serviceRefs[].name core/Service inferred`,
		},
		"WhatIsMade": {
			schema: `serviceAccount: {type: object, properties: {name: {type: string, description: Name of the service account that will be created.}}}`,
			want:   `spec.serviceAccount.name core/ServiceAccount inferred`,
		},
		"ElementThatDefines": {
			schema: `
				services: {type: array, items: {type: object, properties: {name: {type: string, description: Name of the service. Others refer to it by that.}, ports: {type: array}}}}
				backends: {type: array, items: {type: object, properties: {service: {type: string}, name: {type: string, description: Name of the config map that is referred to.}}}}`,
			want: `
				spec.backends[].name core/ConfigMap inferred
				spec.services[].name core/Service inferred`,
		},
		"LabelsBesideOtherFields": {
			schema: `
				parts: {type: array, items: {type: object, properties: {labels: {type: object}, annotations: {type: object}, credentials: {type: string, description: Name of the Secret.}}}}
				template: {type: object, properties: {labels: {type: object}, annotations: {type: object}, name: {type: string, description: Name of the Service.}}}`,
			want: `spec.parts[].credentials core/Secret`,
		},
		"NameBesideTheReference": {
			served: []string{"example.com/AnalysisTemplate"},
			schema: `
				analyses: {type: array, description: References AnalysisTemplates to run., items: {type: object, properties: {name: {type: string}, templateName: {type: string}}}}
				templates: {type: array, description: References AnalysisTemplates to run., items: {type: object, properties: {name: {type: string}, mode: {type: string}}}}`,
			want: `
				spec.analyses[].name silent
				spec.templates[].name example.com/AnalysisTemplate inferred`,
		},
		"NameOfItsOwn": {
			served: []string{"example.com/Widget"},
			schema: `name: {type: string, description: Overrides the default Widget name.}`,
		},
		"Participles": {
			served: []string{"example.com/ComponentParameter", "example.com/Parameter"},
			schema: `parameterRef: {type: object, description: ParameterRef identifies the ComponentParameter edited through this view., properties: {name: {type: string}}}`,
			want:   `spec.parameterRef.name example.com/ComponentParameter`,
		},
		"EmbeddedObjectsAndLabels": {
			schema: `
				manifest: {type: object, x-kubernetes-embedded-resource: true, properties: {caSecret: {type: string, description: Name of the Secret.}}}
				labels: {type: object, additionalProperties: {type: string}, description: Names of the Secrets.}`,
		},
		"KindThatTheTableLists": {
			kind:   "argoproj.io/Rollout",
			schema: `dns: {type: object, properties: {name: {type: string, description: Name of the Service.}, caSecret: {type: string}}}`,
			want: `
				spec.dns.caSecret core/Secret inferred
				spec.dns.name core/Service inferred`,
		},
		"FieldThatTheTableKnows": {
			kind:   "cert-manager.io/Certificate",
			schema: `{secretName: {type: string, description: Name of the ConfigMap.}, commonName: {type: string}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			kind := graph.Kind{Group: "example.com", Kind: "Widget"}
			if test.kind != "" {
				kind.Group, kind.Kind, _ = strings.Cut(test.kind, "/")
			}
			text := test.schema
			if !strings.HasPrefix(text, "{") {
				text = strings.ReplaceAll(text, "\t", "")
			}
			told, err := servedBy(test.served...).Tell(kind, schemaOf(t, text))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, rule := range told.Rules {
				e := explained(&rule, BySchema)
				line := e.Path + " " + e.To
				if e.Inferred {
					line += " inferred"
				}
				if e.Selector {
					line += " selector"
				}
				if len(rule.Namespace) > 0 {
					line += " ns=" + rule.Namespace[0]
				}
				got = append(got, line)
			}
			for _, path := range told.Silent {
				got = append(got, path+" silent")
			}
			slices.Sort(got)
			if diff := cmp.Diff(lines(test.want), got); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

// TestScopes: a boolean beside a name says whether the kind of the whole cluster is meant,
// with a schema and without one.
func TestScopes(t *testing.T) {
	served := servedBy("example.com/Widget", "example.com/Plan", "example.com/ClusterPlan*", "example.com/BuildTemplate", "example.com/ClusterBuildTemplate*",
		"example.com/TestTemplate", "example.com/ClusterTestTemplate*")
	kind, object := decode(t, []byte(`{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: own}, spec: {
		planRef: {name: narrow}, widePlanRef: {planRef: {name: wide, clusterScope: true}}, templateRef: {name: t, clusterScope: true}}}`))
	ref := `{type: object, properties: {name: {type: string}, clusterScope: {type: boolean}}}`
	reading, err := served.Read(kind, schemaOf(t, `{planRef: `+ref+`, widePlanRef: {type: object, properties: {planRef: `+ref+`}}, templateRef: `+ref+`}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		x    *Extractor
		want string
	}{
		"Keys": {Builtin().Serving(served), `
			r example.com/Plan own?/narrow spec.planRef
			r example.com/ClusterBuildTemplate -/t inferred/spec.templateRef
			r example.com/ClusterTestTemplate -/t inferred/spec.templateRef
			r example.com/ClusterPlan -/wide spec.widePlanRef.planRef`},
		"Schema": {Builtin().Serving(served).Reading(map[graph.Kind]*Reading{kind: reading}), `
			r example.com/ClusterBuildTemplate -/t inferred/spec.templateRef.name
			r example.com/ClusterPlan -/wide spec.widePlanRef.planRef.name
			r example.com/ClusterTestTemplate -/t inferred/spec.templateRef.name
			r example.com/Plan own/narrow spec.planRef.name`},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(sorted(lines(test.want)), sorted(slices.Compact(render(test.x.Extract(kind, object))))); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHostileSchemas: a schema of as many fields as a CustomResourceDefinition can have,
// or of as long descriptions, costs what the bounds allow and ends nothing.
func TestHostileSchemas(t *testing.T) {
	served := servedBy("example.com/Widget")
	many := &Schema{Type: "object"}
	for i := range schemaValues.Limit() + 1 {
		many.Properties = append(many.Properties, Property{fmt.Sprintf("f%09d", i), &Schema{Type: "string"}})
	}
	telling := &Schema{Type: "object"}
	for i := range schemaRules.Limit() + 1 {
		telling.Properties = append(telling.Properties, Property{fmt.Sprintf("f%09d", i), &Schema{Type: "string", Description: "Name of the Secret."}})
	}
	deep := &Schema{Type: "string", Description: "Name of the Secret."}
	for range 10_000 {
		deep = &Schema{Type: "object", Properties: []Property{{"a", deep}}}
	}
	long := &Schema{Type: "object", Properties: []Property{{"a", &Schema{Type: "string", Description: strings.Repeat("name of the secret's ", 100_000)}}}}
	for name, test := range map[string]struct {
		schema  *Schema
		exceeds bool
	}{
		"Fields": {many, true}, "Rules": {telling, true}, "Depth": {deep, false}, "Description": {long, false},
		"Keys": {&Schema{Type: "object", Properties: []Property{{"", deep}, {"'", deep}, {strings.Repeat("x", 100_000), long}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			reading, err := served.Read(graph.Kind{Group: "example.com", Kind: "Widget"}, &Schema{Type: "object", Properties: []Property{{"spec", test.schema}}})
			if (err != nil) != test.exceeds || reading != nil {
				t.Errorf("%d rules, error %v", reading.Rules(), err)
			}
		})
	}
}

// TestNamingWords: what comes late in a description that speaks of names again and again
// is not looked for.
func TestNamingWords(t *testing.T) {
	served := servedBy("example.com/Widget")
	for names, want := range map[int]int{maxNaming - 1: 1, maxNaming: 0} {
		if found := served.spoken("example.com", strings.Repeat("A name. ", names)+"Name of the Secret."); len(found) != want {
			t.Errorf("after %d words: %v, want %d kinds", names, found, want)
		}
	}
}
