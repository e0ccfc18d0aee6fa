package crd

import "embed"

// Bases holds the definitions, one YAML file each, in the folder bases.
//
//go:embed bases/*.yaml
var Bases embed.FS
