package refs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs/schema"
)

// schemaOf reads the properties of a schema as a CustomResourceDefinition has them.
func schemaOf(t *testing.T, text string) *schema.Schema {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return schemaFrom(map[string]any{"type": "object", "properties": map[string]any{"spec": map[string]any{"type": "object", "properties": value}}})
}

func schemaFrom(value any) *schema.Schema {
	object, _ := value.(map[string]any)
	if object == nil {
		return nil
	}
	s := &schema.Schema{Closed: object["enum"] != nil, Embedded: object["x-kubernetes-embedded-resource"] == true}
	s.Type, _ = object["type"].(string)
	switch description, _ := object["description"].(string); {
	case strings.HasPrefix(description, "The key of the secret to select from."):
		s.KeyOf = "Secret"
	case description == "The key to select.":
		s.KeyOf = "ConfigMap"
	}
	s.Items, s.Values = schemaFrom(object["items"]), schemaFrom(object["additionalProperties"])
	properties, _ := object["properties"].(map[string]any)
	for key, below := range properties {
		required, _ := object["required"].([]any)
		s.Properties = append(s.Properties, schema.Property{Key: key, Schema: schemaFrom(below), Required: slices.Contains(required, any(key))})
	}
	slices.SortFunc(s.Properties, func(a, b schema.Property) int { return strings.Compare(a.Key, b.Key) })
	return s
}

// TestSchemaRules reads schemas as their authors write them.
func TestSchemaRules(t *testing.T) {
	for name, test := range map[string]struct {
		served []string
		kind   string
		schema string
		want   string
	}{
		"KeysAndDescriptionsAreLeftToConventions": {
			served: []string{"example.com/Exchange"},
			schema: `
				secretName: {type: string, description: Name of the Secret with the CA.}
				exchange: {type: string}
				target: {type: string, description: The name of the Exchange.}
				configRef: {type: object, properties: {name: {type: string}}}
				targets: {type: object, description: Selects Exchanges., properties: {matchLabels: {type: object}, matchExpressions: {type: array}}}`,
		},
		"KeySelectors": {
			schema: `
				rules: {type: object, properties: {name: {type: string}, key: {type: string, description: The key to select.}, optional: {type: boolean}}}
				auth: {type: object, properties: {name: {type: string}, namespace: {type: string}, key: {type: string, description: The key of the secret to select from.  Must be a valid secret key.}}}
				bucket: {type: object, properties: {name: {type: string}, key: {type: string, description: Key of the secret.}}}
				settings: {type: array, items: {type: object, properties: {configMap: {type: object, properties: {name: {type: string}, key: {type: string}}}}}}
				columns: {type: object, properties: {name: {type: string}, key: {type: string}, format: {type: string}}}`,
			want: `
				spec.auth.name core/Secret ns=namespace
				spec.bucket.name core/ConfigMap inferred
				spec.bucket.name core/Secret inferred
				spec.rules.name core/ConfigMap`,
		},
		"ClosedKeyThatConventionsTake": {
			schema: `
				secretName: {type: string, enum: [a, b]}
				mode: {type: string, enum: [a, b]}`,
			want: `spec.secretName silent`,
		},
		"PodSpec": {
			schema: `
				template: {type: object, properties: {spec: {type: object, properties: {
				  containers: {type: array, items: {type: object, properties: {name: {type: string}, image: {type: string}, livenessProbe: {type: object, properties: {grpc: {type: object, properties: {service: {type: string}}}}}}}},
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
		"MetadataOfATemplate": {
			schema: `
				parts: {type: array, items: {type: object, properties: {labels: {type: object}, annotations: {type: object}, credentials: {type: object, properties: {name: {type: string}, key: {type: string}}}}}}
				template: {type: object, properties: {labels: {type: object}, annotations: {type: object}, name: {type: string, enum: [a]}}}`,
			want: `spec.parts[].credentials.name core/Secret`,
		},
		"EmbeddedObjectsAndLabels": {
			schema: `
				manifest: {type: object, x-kubernetes-embedded-resource: true, properties: {auth: {type: object, properties: {name: {type: string}, key: {type: string}}}}}
				labels: {type: object, additionalProperties: {type: string}}`,
		},
		"KindThatTheTableLists": {
			served: []string{"argoproj.io/Rollout"},
			kind:   "argoproj.io/Rollout",
			schema: `dns: {type: object, properties: {serviceRef: {type: object, properties: {name: {type: string}}}, rollout: {type: string}, caSecret: {type: string}, url: {type: string}}}`,
			want: `
				spec.dns.caSecret core/Secret inferred
				spec.dns.serviceRef.name core/Service inferred
				spec.dns.url core/Service inferred`,
		},
		"FieldThatTheTableKnows": {
			kind:   "cert-manager.io/Certificate",
			schema: `{secretName: {type: string}, commonName: {type: string}}`,
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
			found, err := servedBy(test.served...).SchemaRules(kind, schemaOf(t, text))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, rule := range found.Rules {
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
			for _, path := range found.Silent {
				got = append(got, path+" silent")
			}
			slices.Sort(got)
			if diff := cmp.Diff(lines(test.want), got); diff != "" {
				t.Errorf("rules (-want +got):\n%s", diff)
			}
		})
	}
}

// TestScopes: a boolean beside a name chooses the cluster-scoped kind of two.
func TestScopes(t *testing.T) {
	served := servedBy("example.com/Widget", "example.com/Plan", "example.com/ClusterPlan*", "example.com/BuildTemplate", "example.com/ClusterBuildTemplate*",
		"example.com/TestTemplate", "example.com/ClusterTestTemplate*")
	kind, object := decode(t, []byte(`{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: own}, spec: {
		planRef: {name: narrow}, widePlanRef: {planRef: {name: wide, clusterScope: true}}, templateRef: {name: t, clusterScope: true}}}`))
	want := lines(`
		r example.com/ClusterPlan -/narrow inferred/spec.planRef
		r example.com/Plan own/narrow inferred/spec.planRef
		r example.com/ClusterBuildTemplate -/t inferred/spec.templateRef
		r example.com/ClusterTestTemplate -/t inferred/spec.templateRef
		r example.com/ClusterPlan -/wide spec.widePlanRef.planRef`)
	if diff := cmp.Diff(sorted(want), sorted(render(Builtin().Serving(served).Extract(kind, object)))); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
}

// TestHostileSchemas: a schema of as many fields as a CustomResourceDefinition can have,
// or of more references than the bound, costs what the bounds allow.
func TestHostileSchemas(t *testing.T) {
	served := servedBy("example.com/Widget")
	text := &schema.Schema{Type: "string"}
	object := func(properties ...schema.Property) *schema.Schema {
		return &schema.Schema{Type: "object", Properties: properties}
	}
	many, full := object(), object()
	for i := range schema.Size.Limit() + 1 {
		many.Properties = append(many.Properties, schema.Property{Key: fmt.Sprintf("f%09d", i), Schema: text})
	}
	selector := object(schema.Property{Key: "key", Schema: text}, schema.Property{Key: "name", Schema: text})
	for i := range schema.Size.Limit()/schema.RuleSize + 1 {
		full.Properties = append(full.Properties, schema.Property{Key: fmt.Sprintf("f%09d", i), Schema: selector})
	}
	deep := selector
	for range 10_000 {
		deep = object(schema.Property{Key: "a", Schema: deep})
	}
	for name, test := range map[string]struct {
		schema  *schema.Schema
		exceeds bool
	}{
		"Fields": {many, true}, "Rules": {full, true}, "Depth": {deep, false},
		"Keys": {object(schema.Property{Key: "", Schema: deep}, schema.Property{Key: "'", Schema: deep}, schema.Property{Key: strings.Repeat("x", 100_000), Schema: selector}), false},
	} {
		t.Run(name, func(t *testing.T) {
			reading, err := served.Read(graph.Kind{Group: "example.com", Kind: "Widget"}, object(schema.Property{Key: "spec", Schema: test.schema}))
			if (err != nil) != test.exceeds || reading != nil {
				t.Errorf("%d rules, error %v", reading.Rules(), err)
			}
		})
	}
}
