package schema

import "slices"

// Shape is a type of Kubernetes that other kinds embed.
type Shape string

// The shapes are named as the templates of the reference table.
const (
	PodSpec        Shape = "pod-spec"
	Container      Shape = "container"
	Volume         Shape = "volume"
	ClaimTemplate  Shape = "claim-template"
	ClaimSpec      Shape = "claim-spec"
	IngressBackend Shape = "ingress-backend"
)

// leastVolumeSources is the minimum number of volume sources by which an object counts as a Volume:
// other types have two of them too.
const leastVolumeSources = 3

var volumeSources = [...]string{"configMap", "csi", "emptyDir", "ephemeral", "hostPath", "persistentVolumeClaim", "projected", "secret"}

// Shapes lists the shapes of an object, the largest first.
func (s *Schema) Shapes() []Shape {
	var shapes []Shape
	if s.IsPodSpec() {
		shapes = append(shapes, PodSpec)
	}
	if env, from := s.Property("env"), s.Property("envFrom"); env != nil && env.Items.Has("name", "valueFrom") || from != nil && from.Items.Has("secretRef") {
		shapes = append(shapes, Container)
	}
	sources := 0
	for _, key := range volumeSources {
		if s.Has(key) {
			sources++
		}
	}
	if sources >= leastVolumeSources {
		shapes = append(shapes, Volume)
	}
	if s.Property("spec").Has("storageClassName", "accessModes") {
		shapes = append(shapes, ClaimTemplate)
	}
	if s.Has("storageClassName", "accessModes", "resources") {
		shapes = append(shapes, ClaimSpec)
	}
	if s.Property("service").Has("name", "port") && s.Has("resource") {
		shapes = append(shapes, IngressBackend)
	}
	return shapes
}

// IsPodSpec reports whether an object is the spec of a pod.
func (s *Schema) IsPodSpec() bool {
	containers := s.Property("containers")
	return containers != nil && containers.Items.Has("name", "image")
}

// IsLabelSelector reports whether an object is a label selector.
func (s *Schema) IsLabelSelector() bool { return s.Has("matchLabels", "matchExpressions") }

// IsResourceRequirements reports whether an object holds the requests and limits of a container.
func (s *Schema) IsResourceRequirements() bool { return s.Has("limits", "requests") }

// IsObjectMeta reports whether an object is the metadata of a template: it has labels and annotations,
// and only fields of metadata.
func (s *Schema) IsObjectMeta() bool {
	return s.Has("labels", "annotations") && s.onlyHas("annotations", "creationTimestamp", "finalizers", "generateName", "labels", "name", "namespace", "ownerReferences", "uid")
}

// KeySelector reports whether an object selects a key of a Secret or a ConfigMap. kind is empty if the
// schema does not say which.
func (s *Schema) KeySelector() (kind string, ok bool) {
	key := s.Property("key")
	if key == nil || key.Type != "string" || !s.onlyHas("name", "key", "namespace", "optional") {
		return "", false
	}
	return key.KeyOf, true
}

// IsKeySelector reports whether an object is a key selector of Kubernetes: its field optional says
// whether the target may be missing.
func (s *Schema) IsKeySelector() bool {
	_, ok := s.KeySelector()
	return ok && s.Has("optional")
}

func (s *Schema) onlyHas(keys ...string) bool {
	return !slices.ContainsFunc(s.Properties, func(p Property) bool { return !slices.Contains(keys, p.Key) })
}
