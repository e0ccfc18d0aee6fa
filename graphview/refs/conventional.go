package refs

import (
	"strings"

	"graphview.dev/graphview/graph"
)

// isOpaque holds the keys whose values conventions skip at any depth: contents, labels, and metadata
// that the extractor reads by other means.
var isOpaque = set("annotations", "binaryData", "conditions", "matchLabels", "openAPIV3Schema", "stringData", "valuesObject")

func set(words ...string) map[string]bool {
	all := make(map[string]bool, len(words))
	for _, word := range words {
		all[word] = true
	}
	return all
}

// isContents reports whether a map holds contents instead of API fields: data at the root of the object,
// data without objects and lists, labels, Helm's values, and the metadata of templates. An element of a
// list is never contents.
func (g *conventionReader) isContents(key string, value map[string]any) bool {
	switch depth := len(g.path); {
	case g.path[depth-1] == "": // an element of a list
		return false
	case key == "data":
		return depth == 1 || isFlat(value)
	default:
		return key == "labels" || key == "metadata" || key == "values"
	}
}

// isFlat reports whether a map contains no maps and no lists.
func isFlat(object map[string]any) bool {
	for _, value := range object {
		switch value.(type) {
		case map[string]any, []any:
			return false
		}
	}
	return true
}

// kinds are the kinds of Kubernetes that objects name without a group.
var kinds = kindsOf(map[string]string{
	"":                  "ConfigMap Namespace* Node* PersistentVolume* PersistentVolumeClaim Pod Secret Service ServiceAccount",
	"apps":              "DaemonSet Deployment ReplicaSet StatefulSet",
	"batch":             "CronJob Job",
	"networking.k8s.io": "Ingress",
})

// kindsOf parses names of kinds by group. A star marks a cluster-scoped kind.
func kindsOf(groups map[string]string) map[string]graph.Reference {
	all := map[string]graph.Reference{}
	for group, names := range groups {
		for name := range strings.FieldsSeq(names) {
			name, isWide := strings.CutSuffix(name, "*")
			target := graph.Reference{To: graph.Kind{Group: group, Kind: name}, Scope: graph.ScopeNamespaced}
			if isWide {
				target.Scope = graph.ScopeCluster
			}
			all[name] = target
		}
	}
	return all
}

// commonWords maps the words that keys of other projects use to kinds of Kubernetes.
var commonWords = func() map[string]graph.Reference {
	words := map[string]graph.Reference{"claim": kinds["PersistentVolumeClaim"], "credential": kinds["Secret"], "pvc": kinds["PersistentVolumeClaim"]}
	for _, named := range [...]map[string]graph.Reference{kinds, kindsOf(map[string]string{
		"networking.k8s.io":          "IngressClass*",
		"node.k8s.io":                "RuntimeClass*",
		"resource.k8s.io":            "DeviceClass* ResourceClaim ResourceClaimTemplate",
		"rbac.authorization.k8s.io":  "ClusterRole*",
		"scheduling.k8s.io":          "PriorityClass*",
		"secrets-store.csi.x-k8s.io": "SecretProviderClass",
		"snapshot.storage.k8s.io":    "VolumeSnapshot VolumeSnapshotClass*",
		"storage.k8s.io":             "StorageClass* VolumeAttributesClass*",
	})} {
		for kind, target := range named {
			words[strings.ToLower(kind)] = target
		}
	}
	delete(words, "namespace") // it is the namespace of a target, not the target
	return words
}()

// holders maps a key, without Name at its end, to the kind whose name it holds.
var holders = func() map[string]graph.Reference {
	all := map[string]graph.Reference{}
	for key := range strings.FieldsSeq("claim configMap ingressClass node priorityClass runtimeClass secret serviceAccount storageClass volumeAttributesClass") {
		all[key] = commonWords[strings.ToLower(key)]
	}
	return all
}()

// namedBy returns the kind that a text names, by its key: secretName and caSecretName name a Secret.
func namedBy(key string) (graph.Reference, bool) {
	key, ok := strings.CutSuffix(key, "Name")
	if !ok {
		return graph.Reference{}, false
	}
	if target, ok := holders[key]; ok {
		return target, true
	}
	for _, of := range [...]string{"Secret", "ConfigMap", "ServiceAccount", "StorageClass"} {
		if strings.HasSuffix(key, of) {
			return commonWords[strings.ToLower(of)], true
		}
	}
	return graph.Reference{}, false
}

// targetByKey returns the kind that an object with a name but no kind refers to, by its key: secretRef,
// caSecretKeyRef, configMapRef, serviceAccountRef, imagePullSecrets[], or fooRef for a Foo of the
// object's group.
func targetByKey(key, group string) (graph.Reference, bool) {
	switch {
	case strings.HasSuffix(key, "ullSecret"): // imagePullSecrets[], pullSecret
		target := kinds["Secret"]
		target.Type = graph.Transitive
		return target, true
	case key == "secret" || strings.HasSuffix(key, "Secret"):
		return kinds["Secret"], true
	case key == "configMap" || strings.HasSuffix(key, "ConfigMap"):
		return kinds["ConfigMap"], true
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
			return kinds[of], true
		}
	}
	if known, ok := kinds[kind]; ok {
		return known, true
	}
	return graph.Reference{To: graph.Kind{Group: group, Kind: kind}}, kind != ""
}

// isKeyOfSecret reports whether an object has the fields of a core/v1 SecretKeySelector and no others,
// whatever its key is.
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

// keyedBy returns the kind that an object with a name and a key refers to: a Secret, or a ConfigMap if
// its own key says so. In a bucket the key is that of a file, and in a pool that of an item, so that
// neither is a reference.
func keyedBy(key string) (graph.Reference, bool) {
	words := stem(wordsOf(key[:min(len(key), 2*maxLabel)]))
	if len(words) == 0 {
		return kinds["Secret"], true
	}
	switch words[len(words)-1] {
	case "configmap":
		return kinds["ConfigMap"], true
	case "map":
		if len(words) > 1 && words[len(words)-2] == "config" {
			return kinds["ConfigMap"], true
		}
	case "bucket", "pool":
		return graph.Reference{}, false
	}
	return kinds["Secret"], true
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
