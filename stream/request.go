package stream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/delivery"
)

// maxRequest bounds the first message of a connection, in bytes.
const maxRequest = 64 << 10

// checkAdHoc refuses the spec of a GraphView that an ad-hoc view may not have.
func checkAdHoc(declared *v1alpha1.GraphViewSpec) error {
	if declared.ServiceAccountName != "" {
		return errors.New("spec.serviceAccountName: an ad-hoc view has the rights of its user; leave it out")
	}
	if r := declared.Roots; r != nil && r.Objects == nil && r.ObjectSelectorExpressions == nil {
		return errors.New("spec.roots: needs objects or objectSelectorExpressions, which select the root objects; leave roots out to see everything")
	}
	return nil
}

// parseRequest reads the first message on connectionPath: the spec of a GraphView in snake_case, with
// directions in lower case.
func parseRequest(text []byte) (*v1alpha1.GraphViewSpec, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	var request any
	if err := decoder.Decode(&request); err != nil {
		return nil, fmt.Errorf("the request is not of the expected form: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the request must be one JSON object, something follows it")
	}
	request, err := fromSnakeCase(request)
	if err != nil {
		return nil, fmt.Errorf("the request is not of the expected form: %w", err)
	}
	decoder = json.NewDecoder(bytes.NewReader(encode(request)))
	decoder.DisallowUnknownFields()
	var declared v1alpha1.GraphViewSpec
	if err := decoder.Decode(&declared); err != nil {
		return nil, fmt.Errorf("the request is not of the expected form: %w", err)
	}
	return &declared, checkAdHoc(&declared)
}

// fromSnakeCase renames the members of a request to those of a GraphView. The names of fields are the user's.
func fromSnakeCase(value any) (_ any, err error) {
	switch value := value.(type) {
	case []any:
		for i := range value {
			if value[i], err = fromSnakeCase(value[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		renamed := make(map[string]any, len(value))
		for name, content := range value {
			words := strings.Split(name, "_")
			for i := 1; i < len(words); i++ {
				words[i] = upperFirst(words[i])
			}
			camel := strings.Join(words, "")
			text, isText := content.(string)
			switch {
			case strings.ToLower(name) != name:
				return nil, fmt.Errorf("unknown field %q: members are written in snake_case", delivery.Bounded(name))
			case name == "direction" && isText:
				renamed[camel] = upperFirst(text)
			case name == "fields":
				renamed[camel] = content
			default:
				if renamed[camel], err = fromSnakeCase(content); err != nil {
					return nil, err
				}
			}
		}
		return renamed, nil
	}
	return value, nil
}

func upperFirst(word string) string {
	if word == "" {
		return ""
	}
	return strings.ToUpper(word[:1]) + word[1:]
}
