package manifest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"graphview.dev/config/crd"
	"graphview.dev/graphview/resources"
)

// group is the API group of our kinds.
const group = "graphview.dev"

// Options describe the operator for which the manifests are checked.
type Options struct {
	// RequireServiceAccount is the operator's flag --require-service-account.
	RequireServiceAccount bool
	// Cluster is the cluster that the manifests are for. Nil: none.
	Cluster *Cluster
}

// Cluster has the known facts about a cluster.
type Cluster struct {
	Served *resources.Catalog
	// Namespaces are the existing ones. Nil: unknown.
	Namespaces []string
	// Namespace is the namespace of manifests that name none.
	Namespace string
	// Objects returns the objects of a resource in a namespace, in all if it is empty. ok is
	// false if not all are known. Nil: none are known. A Checker calls it once for each
	// resource and namespace.
	Objects lister
}

// Checker checks manifests.
type Checker struct {
	forms     map[schema.GroupVersionKind]*form
	compilers map[schema.GroupVersionKind]compiler
}

// New returns a Checker. The error is about the CustomResourceDefinitions in
// this program.
func New(o Options) (*Checker, error) {
	forms, err := readForms(crd.Bases, "bases/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("CustomResourceDefinitions: %w", err)
	}
	if o.Cluster != nil && o.Cluster.Objects != nil {
		cluster := *o.Cluster
		cluster.Objects = remembered(cluster.Objects)
		o.Cluster = &cluster
	}
	return &Checker{forms: forms, compilers: compilers(o)}, nil
}

// Check checks the documents of a file, YAML or JSON.
func (c *Checker) Check(ctx context.Context, file string, text []byte) Result {
	var r Result
	decoder := yamlnode.NewDecoder(bytes.NewReader(text))
	for {
		var document yamlnode.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return r
		}
		if err != nil {
			// The rest of the file cannot be parsed reliably.
			r.Problems = append(r.Problems, Problem{File: file, Line: lineIn(err), Message: "this is no YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")})
			return r
		}
		c.document(ctx, file, &document, &r)
	}
}

func (c *Checker) document(ctx context.Context, file string, node *yamlnode.Node, r *Result) {
	problem := func(message string) {
		r.Problems = append(r.Problems, Problem{File: file, Line: node.Line, Message: message})
	}
	if line, message := unreadable(node); message != "" {
		r.Problems = append(r.Problems, Problem{File: file, Line: line, Message: message})
		return
	}
	// Encoded and decoded like by kubectl, for which `yes` is true.
	text, err := yamlnode.Marshal(node)
	if err == nil {
		text, err = yaml.YAMLToJSON(text)
	}
	if err != nil {
		problem(strings.TrimPrefix(err.Error(), "yaml: "))
		return
	}
	var content any
	if err := json.Unmarshal(text, &content); err != nil {
		problem(err.Error())
		return
	}
	switch object := content.(type) {
	case nil: // an empty document
	case map[string]any:
		c.object(ctx, file, node, "", object, r)
	default:
		problem("a document is to be an object, with apiVersion and kind")
	}
}

// object checks one object, or the items of a list. at is its path in the document.
func (c *Checker) object(ctx context.Context, file string, node *yamlnode.Node, at string, content map[string]any, r *Result) {
	object := &unstructured.Unstructured{Object: content}
	kind := object.GroupVersionKind()
	if items, ok := content["items"].([]any); ok && strings.HasSuffix(kind.Kind, "List") {
		for i, item := range items {
			if content, ok := item.(map[string]any); ok {
				c.object(ctx, file, node, fmt.Sprintf("%sitems[%d].", at, i), content, r)
			}
		}
		return
	}
	if kind.Group != group {
		r.Skipped++
		return
	}
	r.Checked++
	name := strings.TrimSpace(kind.Kind + " " + object.GetName())
	if object.GetNamespace() != "" {
		name = kind.Kind + " " + object.GetNamespace() + "/" + object.GetName()
	}
	add := func(path, message string) {
		r.Problems = append(r.Problems, Problem{File: file, Line: lineOf(node, at+path, message), Object: name, Field: path, Message: message})
	}
	known := c.forms[kind]
	if known == nil {
		add("kind", fmt.Sprintf("%s has no kind %s", kind.GroupVersion(), kind.Kind))
		return
	}
	delete(content, "status") // only the operator writes it
	broken := checkMetadata(object, known.namespaced)
	broken = append(broken, known.check(ctx, content)...)
	for _, e := range broken {
		add(e.Field, message(e))
	}
	if compile := c.compilers[kind]; len(broken) == 0 && compile != nil {
		r.Objects = append(r.Objects, Declared{Line: lineOf(node, at+"kind", ""), Content: object})
		c.compile(ctx, compile, object, add, func(path, message string) {
			r.Advice = append(r.Advice, Problem{File: file, Line: lineOf(node, at+path, message), Object: name, Field: path, Message: message})
		})
	}
}

// compile compiles an object of the right form like the webhook.
func (c *Checker) compile(ctx context.Context, compile compiler, object *unstructured.Unstructured, add, advise func(path, message string)) {
	findings, err := compile(ctx, object)
	for _, f := range findings {
		advise(f.Path, f.Message)
	}
	status, ok := errors.AsType[*apierrors.StatusError](err)
	switch {
	case err == nil:
	case !ok || status.ErrStatus.Details == nil || len(status.ErrStatus.Details.Causes) == 0:
		add("", err.Error())
	default:
		for _, cause := range status.ErrStatus.Details.Causes {
			add(cause.Field, cause.Message)
		}
	}
}

// checkMetadata checks names, labels and annotations. kubectl's flags may supply a missing
// namespace.
func checkMetadata(object *unstructured.Unstructured, namespaced bool) field.ErrorList {
	with := object.DeepCopy()
	if namespaced && with.GetNamespace() == "" {
		with.SetNamespace("default")
	}
	return apivalidation.ValidateObjectMetaAccessor(with, namespaced, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
}

// message returns the message of a field's error without the value, which is in the
// file.
func message(e *field.Error) string {
	if e.Detail != "" && (e.Type == field.ErrorTypeInvalid || e.Type == field.ErrorTypeTypeInvalid || e.Type == field.ErrorTypeForbidden) {
		return e.Detail
	}
	return e.ErrorBody()
}
