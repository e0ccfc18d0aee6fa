package protocol

import (
	"bytes"
	_ "embed"
	"encoding/json"

	"graphview.dev/test/must"
)

const (
	packagePath = "./api/stream/v1alpha1"
	openAPIFile = "stream/openapi.json"
	typesFile   = "client/js/messages.d.ts"
)

// paths is the document without its schemas.
//
//go:embed paths.json
var paths []byte

// Write makes the descriptions, at the root of the repository, and calls write for each file.
func Write(write func(path string, text []byte)) {
	types := must.Get(load(packagePath))
	write(openAPIFile, must.Get(document(paths, types)))
	write(typesFile, typeScript(types))
}

// document returns the OpenAPI document: paths with the schemas of types.
func document(paths []byte, types []*named) ([]byte, error) {
	var whole map[string]any
	if err := json.Unmarshal(paths, &whole); err != nil {
		return nil, err
	}
	schemas := map[string]any{}
	for _, t := range types {
		schemas[t.schemaName()] = t.openAPI()
	}
	whole["components"].(map[string]any)["schemas"] = schemas //nolint:forcetypeassert // paths.json has components
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err := encoder.Encode(whole)
	return out.Bytes(), err
}
