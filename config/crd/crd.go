// Package crd has the CustomResourceDefinitions as this folder does, for
// programs that check manifests where no server is to be asked. It knows nothing
// else.
package crd

import "embed"

// Bases holds the definitions, one YAML file each, in the folder bases.
//
//go:embed bases/*.yaml
var Bases embed.FS
