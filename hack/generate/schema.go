package main

import (
	"errors"
	"fmt"

	"sigs.k8s.io/yaml"
)

// schema has the properties of a field that our CustomResourceDefinitions use.
type schema struct {
	Type        string            `json:"type"`
	Description string            `json:"description"`
	Properties  map[string]schema `json:"properties"`
	Items       *schema           `json:"items"`
	Required    []string          `json:"required"`
	Enum        []string          `json:"enum"`
	MinLength   *int64            `json:"minLength"`
	MaxLength   *int64            `json:"maxLength"`
	MinItems    *int64            `json:"minItems"`
	MaxItems    *int64            `json:"maxItems"`
	Minimum     *int64            `json:"minimum"`
	ListType    string            `json:"x-kubernetes-list-type"`
	Validations []validation      `json:"x-kubernetes-validations"`
}

type validation struct {
	Message string `json:"message"`
}

// parse returns the schema of the first version that a CustomResourceDefinition
// serves.
func parse(text []byte) (*schema, error) {
	var crd struct {
		Spec struct {
			Versions []struct {
				Served bool `json:"served"`
				Schema struct {
					Root schema `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	for i := range crd.Spec.Versions {
		if v := &crd.Spec.Versions[i]; v.Served {
			return &v.Schema.Root, nil
		}
	}
	return nil, errors.New("no version is served")
}
