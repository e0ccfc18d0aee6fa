// Package webhook has the ValidatingWebhookConfiguration as this folder does, for
// the operator, which compares it with the cluster's. It knows nothing else.
package webhook
