package refs

import (
	"strings"

	"graphview.dev/graphview/graph"
)

// isOpaque reports whether conventions skip the value of a key at any depth: contents,
// labels, and metadata that the extractor reads elsewhere.
func isOpaque(key string) bool { return opaque[key] }

var opaque = map[string]bool{
	"annotations": true, "binaryData": true, "conditions": true, "matchLabels": true, "openAPIV3Schema": true, "stringData": true, "valuesObject": true,
}

// isContents reports whether a map holds contents instead of API fields: data at the
// object's root or of texts only, labels, Helm's values and the metadata of templates.
// Keys with the same names elsewhere are ordinary fields.
func (g *guess) isContents(key string, value map[string]any) bool {
	switch depth := len(g.path); {
	case g.path[depth-1] == "": // an element of a list
		return false
	case key == "data":
		return depth == 1 || isFlat(value)
	default:
		return key == "labels" || key == "metadata" || key == "values"
	}
}

// isFlat reports whether a map holds only texts and numbers.
func isFlat(object map[string]any) bool {
	for _, value := range object {
		switch value.(type) {
		case map[string]any, []any:
			return false
		}
	}
	return true
}

func namespaced(kind string) graph.Reference {
	return graph.Reference{To: graph.Kind{Kind: kind}, Scope: graph.ScopeNamespaced}
}

func ofCluster(group, kind string) graph.Reference {
	return graph.Reference{To: graph.Kind{Group: group, Kind: kind}, Scope: graph.ScopeCluster}
}

func ofGroup(group, kind string) graph.Reference {
	return graph.Reference{To: graph.Kind{Group: group, Kind: kind}, Scope: graph.ScopeNamespaced}
}

// kinds are the kinds of Kubernetes that objects name without a group.
var kinds = map[string]graph.Reference{
	"ConfigMap":             namespaced("ConfigMap"),
	"CronJob":               ofGroup("batch", "CronJob"),
	"DaemonSet":             ofGroup("apps", "DaemonSet"),
	"Deployment":            ofGroup("apps", "Deployment"),
	"Ingress":               ofGroup("networking.k8s.io", "Ingress"),
	"Job":                   ofGroup("batch", "Job"),
	"Namespace":             ofCluster("", "Namespace"),
	"Node":                  ofCluster("", "Node"),
	"PersistentVolume":      ofCluster("", "PersistentVolume"),
	"PersistentVolumeClaim": namespaced("PersistentVolumeClaim"),
	"Pod":                   namespaced("Pod"),
	"ReplicaSet":            ofGroup("apps", "ReplicaSet"),
	"Secret":                namespaced("Secret"),
	"Service":               namespaced("Service"),
	"ServiceAccount":        namespaced("ServiceAccount"),
	"StatefulSet":           ofGroup("apps", "StatefulSet"),
}

// names maps keys that hold a name, in lower camel case, to what they refer to. A key
// matches if it is equal, or ends in the same word with an upper-case initial.
var names = map[string]graph.Reference{
	"claimName":          namespaced("PersistentVolumeClaim"),
	"configMapName":      namespaced("ConfigMap"),
	"ingressClassName":   ofCluster("networking.k8s.io", "IngressClass"),
	"nodeName":           ofCluster("", "Node"),
	"priorityClassName":  ofCluster("scheduling.k8s.io", "PriorityClass"),
	"runtimeClassName":   ofCluster("node.k8s.io", "RuntimeClass"),
	"secretName":         namespaced("Secret"),
	"serviceAccountName": namespaced("ServiceAccount"),
	"storageClassName":   ofCluster("storage.k8s.io", "StorageClass"),

	"volumeAttributesClassName": ofCluster("storage.k8s.io", "VolumeAttributesClass"),
}

// namedBy returns what a text refers to, by its key.
func namedBy(key string) (graph.Reference, bool) {
	if !strings.HasSuffix(key, "Name") {
		return graph.Reference{}, false
	}
	if target, ok := names[key]; ok {
		return target, true
	}
	for _, of := range [...]string{"Secret", "ConfigMap", "ServiceAccount", "StorageClass"} {
		if strings.HasSuffix(key, of+"Name") {
			return names[lowerFirst(of)+"Name"], true
		}
	}
	return graph.Reference{}, false
}

// targetByKey returns what an object with a name but no kind refers to: secretRef,
// caSecretKeyRef, configMapRef, serviceAccountRef, imagePullSecrets[], or fooRef
// for a Foo of the object's group.
func targetByKey(key, group string) (graph.Reference, bool) {
	switch {
	case strings.HasSuffix(key, "ullSecret"): // imagePullSecrets[], pullSecret
		target := namespaced("Secret")
		target.Type = graph.Transitive
		return target, true
	case key == "secret" || strings.HasSuffix(key, "Secret"):
		return namespaced("Secret"), true
	case key == "configMap" || strings.HasSuffix(key, "ConfigMap"):
		return namespaced("ConfigMap"), true
	}
	stem, ok := strings.CutSuffix(key, "Ref")
	if !ok {
		stem, ok = strings.CutSuffix(key, "Reference")
	}
	if !ok || stem == "" {
		return graph.Reference{}, false
	}
	stem, isKey := strings.CutSuffix(strings.TrimSuffix(stem, "To"), "Key") // writeConnectionSecretToRef
	kind := upperFirst(stem)
	for _, of := range [...]string{"Secret", "ConfigMap", "ServiceAccount", "PersistentVolumeClaim"} {
		if strings.HasSuffix(kind, of) {
			if isKey && of != "ConfigMap" {
				of = "Secret" // serviceAccountKeyRef: Secrets and ConfigMaps have keys
			}
			return namespaced(of), true
		}
	}
	if known, ok := kinds[kind]; ok {
		return known, true
	}
	return graph.Reference{To: graph.Kind{Group: group, Kind: kind}}, kind != ""
}

// isKeyOfSecret reports whether an object has the shape of a core/v1 SecretKeySelector
// under any key: name, key and no other fields.
func isKeyOfSecret(object map[string]any) bool {
	if key, _ := object["key"].(string); key == "" {
		return false
	}
	for field := range object {
		switch field {
		case "name", "key", "namespace", "optional":
		default:
			return false
		}
	}
	return true
}

// keyedBy returns what an object with a name and a key refers to: a Secret, unless the key
// of the object names another kind. In a bucket, the key is that of a file.
func keyedBy(key string) (graph.Reference, bool) {
	switch words := stem(wordsOf(key[:min(len(key), 2*maxLabel)])); {
	case len(words) == 0:
	case words[len(words)-1] == "configmap", len(words) > 1 && words[len(words)-2] == "config" && words[len(words)-1] == "map":
		return namespaced("ConfigMap"), true
	case words[len(words)-1] == "bucket":
		return graph.Reference{}, false
	}
	return namespaced("Secret"), true
}

// isPlausible reports whether a text can be the name of an object, and not a template, a
// glob or a placeholder. Names of Roles may have colons.
func isPlausible(name string) bool {
	for {
		word, rest, more := strings.Cut(name, ":")
		if !isObjectName(word) {
			return false
		}
		if !more {
			return true
		}
		name = rest
	}
}

func upperFirst(text string) string {
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return text
	}
	return string(text[0]-'a'+'A') + text[1:]
}

func lowerFirst(text string) string { return string(text[0]-'A'+'a') + text[1:] }
