package offline

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

const (
	// maxFile bounds one file, and maxDocument one document in it, since a parser takes many times its size.
	// An API server refuses an object that is larger than maxObject.
	maxFile     = 32 << 20
	maxDocument = 8 << 20
	maxObject   = 3 << 20
)

// FileError is about a place in a file.
type FileError struct {
	File string
	// Line counts from 1; 0 means the file.
	Line int
	Err  error
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Err)
}

// Unwrap returns Err.
func (e *FileError) Unwrap() error { return e.Err }

// document is a YAML or JSON document of a file.
type document struct {
	file string
	line int // of its first line
	text []byte
}

// documents splits a file at the lines that begin with three dashes.
func documents(file string, content []byte) []*document {
	var all []*document
	current := &document{file: file, line: 1}
	begin, at, line := 0, 0, 0
	add := func(end int) {
		if current.text = content[begin:end]; len(bytes.TrimSpace(current.text)) > 0 {
			all = append(all, current)
		}
	}
	for text := range bytes.Lines(content) {
		line++
		rest, separates := bytes.CutPrefix(text, []byte("---"))
		if separates && (len(bytes.TrimSpace(rest)) == 0 || rest[0] == ' ' || rest[0] == '\t') {
			add(at)
			// The rest of the line is a comment, or the beginning of the document.
			current, begin = &document{file: file, line: line}, at+len("---")
		}
		at += len(text)
	}
	add(len(content))
	return all
}

// lineInError is how the YAML parser names a line.
var lineInError = regexp.MustCompile(`(?:^|: )line (\d+): `)

// parse returns the objects of a document: itself, or those of a list. It is nil for a document that is
// no object.
func (d *document) parse() ([]*Object, error) {
	if len(d.text) > maxDocument {
		return nil, &FileError{d.file, d.line, fmt.Errorf("the document has %d MB, and at most %d are read: split it", len(d.text)>>20, maxDocument>>20)}
	}
	converted, err := yaml.YAMLToJSONStrict(d.text)
	if err != nil {
		return nil, d.failed(err)
	}
	if len(converted) > maxFile {
		return nil, &FileError{d.file, d.line, fmt.Errorf("the document has %d MB once its aliases are replaced", len(converted)>>20)}
	}
	var content any
	if err := json.Unmarshal(converted, &content); err != nil {
		return nil, &FileError{d.file, d.line, err}
	}
	object, ok := content.(map[string]any)
	if !ok {
		return nil, nil
	}
	return d.objects(object, "", len(converted))
}

// objects returns an object, or those of a list. at is its path in the document.
func (d *document) objects(content map[string]any, at string, size int) ([]*Object, error) {
	kind, version := text(content, "kind"), text(content, "apiVersion")
	if kind == "" || version == "" {
		return nil, nil
	}
	if items, ok := content["items"].([]any); ok && strings.HasSuffix(kind, "List") {
		var all []*Object
		for i, item := range items {
			of, ok := item.(map[string]any)
			if !ok {
				continue
			}
			found, err := d.objects(of, fmt.Sprintf("%sitems[%d].", at, i), size/len(items))
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
		return all, nil
	}
	if _, kubernetes := builtinKinds()[schema.FromAPIVersionAndKind(version, kind).GroupKind()]; content["metadata"] == nil && !kubernetes {
		return nil, nil // the configuration of another program
	}
	o := &Object{Content: content, source: d, at: at}
	if size > maxObject {
		return nil, o.failed(fmt.Errorf("%s has %d MB: an API server accepts 3", kind, size>>20))
	}
	if strings.HasPrefix(version, "kustomize.config.k8s.io/") || kind == "Kustomization" && version == "v1beta1" {
		return nil, nil // read by kustomize
	}
	return []*Object{o}, o.check()
}

// failed adds the place to an error of the YAML parser, which counts lines of the document.
func (d *document) failed(err error) error {
	message, line := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "), d.line
	message = strings.TrimPrefix(strings.TrimPrefix(message, "yaml: unmarshal errors:\n  "), "yaml: ")
	if found := lineInError.FindStringSubmatch(message); found != nil {
		n, _ := strconv.Atoi(found[1])
		line += n - 1
		message = strings.Replace(message, found[0], "", 1)
	}
	message, _, _ = strings.Cut(message, "\n")
	switch {
	case strings.Contains(message, "already set in map"):
		message = strings.TrimSuffix(strings.Replace(message, "key ", "", 1), " already set in map") + " is here twice"
	case bytes.Contains(d.text, []byte("{{")):
		message += "; this looks like a template: render it first, as with helm template CHART | kubectl graphview … --from -"
	}
	return &FileError{d.file, line, errors.New("this is no YAML: " + message)}
}
