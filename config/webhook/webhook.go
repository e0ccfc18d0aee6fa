// Package webhook has the ValidatingWebhookConfiguration as this folder does, for
// the operator, which compares it with the cluster's. It knows nothing else.
package webhook

import _ "embed" // for Configuration

// Configuration is the manifest, in YAML.
//
//go:embed webhook.yaml
var Configuration []byte
