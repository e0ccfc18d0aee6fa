package offline

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Key identifies an object.
type Key struct {
	schema.GroupKind

	Namespace, Name string
}

// String is KIND/NAMESPACE/NAME, for messages.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Kind + "/" + k.Name
	}
	return k.Kind + "/" + k.Namespace + "/" + k.Name
}

// Object is an object of a manifest, or an object that is made because others refer to it.
type Object struct {
	Key
	Kind    Kind
	Content map[string]any

	source *document // nil for one that is made
	at     string    // path in the document, of an element of a list
	// creator is the object for which it is made, nil without one.
	creator *Object
	// assumed: its namespace is the default, which neither it nor the user names.
	assumed bool
	// partial: its kustomization is not built whole, so fields may be absent. beside: so may objects of its namespace.
	partial, beside bool
}

// Made reports whether no manifest has the object.
func (o *Object) Made() bool { return o.source == nil }

// Declared returns the object of a manifest that has a field, and the field in it: the object itself, or the workload
// of a pod. It returns nil if no manifest has it.
func (o *Object) Declared(field string) (*Object, string) {
	switch {
	case !o.Made():
		return o, field
	case o.creator == nil:
		return nil, ""
	default:
		_, at := podSpec(o.creator)
		return o.creator, strings.TrimSuffix(at, "spec") + field
	}
}

// File is the file of the object, "" for an object that is made.
func (o *Object) File() string {
	if o.source == nil {
		return ""
	}
	return o.source.file
}

func (o *Object) failed(err error) error {
	p := o.Position("metadata.name", "")
	return &FileError{p.File, p.Line, err}
}

func (o *Object) metadata() map[string]any {
	metadata, _ := o.Content["metadata"].(map[string]any)
	return metadata
}

// check returns an error if the object has no usable name.
func (o *Object) check() error {
	metadata := o.metadata()
	name, kind := text(metadata, "name"), text(o.Content, "kind")
	if name == "" {
		// Each creation makes another one. This is one of them.
		if name = text(metadata, "generateName"); name != "" {
			name += "*"
			metadata["name"] = name
		}
	}
	switch {
	case strings.HasPrefix(kind, "ENC["):
		return o.failed(errors.New("it is encrypted, also its kind and name: decrypt it first, as with sops decrypt FILE | kubectl graphview … --from -"))
	case metadata == nil:
		return o.failed(fmt.Errorf("%s has no metadata, so it has no name", kind))
	case name == "":
		return o.failed(fmt.Errorf("%s has no metadata.name", kind))
	}
	for _, word := range []string{name, text(metadata, "namespace"), kind, text(o.Content, "apiVersion")} {
		if len(word) > 253 || strings.ContainsFunc(word, func(r rune) bool {
			return unicode.IsControl(r) || r == '/' && word == name && !strings.Contains(name, "${")
		}) {
			return o.failed(fmt.Errorf("%s: %.60q is no name: an API server accepts at most 253 characters, without / and control characters", kind, word))
		}
	}
	return nil
}

// identify sets the key and the kind, and the metadata that an API server would add. It copies the
// members that it changes, because the content may be that of an earlier load.
//
// The namespace is the target's if it has one, else the object's, else the one of the user, else "default".
func (o *Object) identify(kind Kind, otherwise, target string) {
	metadata := copied(o.metadata())
	named := cmp.Or(target, text(metadata, "namespace"))
	namespace := cmp.Or(named, otherwise, "default")
	if metadata["namespace"] = namespace; !kind.Namespaced {
		namespace = ""
		delete(metadata, "namespace")
	}
	o.assumed = kind.Namespaced && named == "" && otherwise == ""
	o.Kind, o.Key = kind, Key{kind.GroupKind(), namespace, text(metadata, "name")}
	metadata["uid"] = uidOf(o.Key)
	o.Content = copied(o.Content)
	o.Content["metadata"] = metadata
	delete(o.Content, "status")
	if o.GroupKind == secretKind {
		// No client of this process needs the values.
		for _, member := range []string{"data", "stringData"} {
			if values, ok := o.Content[member].(map[string]any); ok {
				keys := make(map[string]any, len(values))
				for key := range values {
					keys[key] = ""
				}
				o.Content[member] = keys
			}
		}
	}
}

func copied(of map[string]any) map[string]any {
	c := make(map[string]any, len(of)+2)
	maps.Copy(c, of)
	return c
}

var (
	secretKind    = schema.GroupKind{Kind: "Secret"}
	configMapKind = schema.GroupKind{Kind: "ConfigMap"}
	namespaceKind = schema.GroupKind{Kind: "Namespace"}
	podKind       = schema.GroupKind{Kind: "Pod"}
	serviceKind   = schema.GroupKind{Kind: "Service"}
)

// uidOf returns the same UID for the same key.
func uidOf(key Key) string {
	sum := sha256.Sum256([]byte(key.Group + "\x00" + key.String()))
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}
