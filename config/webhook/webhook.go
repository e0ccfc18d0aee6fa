package webhook

import _ "embed" // for Configuration

// Configuration is the manifest, in YAML.
//
//go:embed webhook.yaml
var Configuration []byte
