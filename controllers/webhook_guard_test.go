package controllers

import (
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	shipped "graphview.dev/config/webhook"
)

// TestWebhookGuard: what the configuration can be turned into is noticed, and what an
// installation may choose is not.
func TestWebhookGuard(t *testing.T) {
	type configuration = admissionregistrationv1.ValidatingWebhookConfiguration
	url, fail, some := "https://thief.example.com/", admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassSome
	for name, test := range map[string]struct {
		change func(*configuration)
		want   string // of the error; empty: it is as shipped
	}{
		"as shipped":        {change: func(*configuration) {}},
		"an authority":      {change: func(c *configuration) { c.Webhooks[0].ClientConfig.CABundle = []byte("PEM") }},
		"a failure policy":  {change: func(c *configuration) { c.Webhooks[0].FailurePolicy = &fail }},
		"one webhook alone": {change: func(c *configuration) { c.Webhooks = c.Webhooks[:1] }},
		"another URL": {func(c *configuration) {
			c.Webhooks[0].ClientConfig = admissionregistrationv1.WebhookClientConfig{URL: &url}
		}, "leads to a URL"},
		"another Service":   {func(c *configuration) { c.Webhooks[1].ClientConfig.Service.Name = "thief" }, "does not lead to the Service"},
		"another namespace": {func(c *configuration) { c.Webhooks[1].ClientConfig.Service.Namespace = "thief" }, "does not lead to the Service"},
		"more resources":    {func(c *configuration) { c.Webhooks[0].Rules[0].Resources = []string{"*/*"} }, "the rules of webhook"},
		"more groups":       {func(c *configuration) { c.Webhooks[0].Rules[0].APIGroups = []string{"graphview.dev", ""} }, "the rules of webhook"},
		"more operations": {func(c *configuration) {
			c.Webhooks[0].Rules[0].Operations = []admissionregistrationv1.OperationType{"*"}
		}, "the rules of webhook"},
		"another rule":       {func(c *configuration) { c.Webhooks[0].Rules = append(c.Webhooks[0].Rules, c.Webhooks[1].Rules...) }, "the rules of webhook"},
		"another webhook":    {func(c *configuration) { c.Webhooks[0].Name = "secrets.example.com" }, `webhook "secrets.example.com" is not shipped`},
		"other side effects": {func(c *configuration) { c.Webhooks[0].SideEffects = &some }, "sideEffects of webhook"},
	} {
		t.Run(name, func(t *testing.T) {
			present := &configuration{}
			if err := yaml.Unmarshal(shipped.Configuration, present); err != nil {
				t.Fatal(err)
			}
			test.change(present)
			cluster := fake.NewClientBuilder().WithObjects(present).Build()
			guard, err := NewWebhookGuard(cluster, "graphview-system")
			if err != nil {
				t.Fatal(err)
			}
			err = guard.check(t.Context())
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if changed := guard.changed.Load(); changed != (test.want != "") {
				t.Errorf("the metric says changed: %t", changed)
			}
			if err := client.IgnoreNotFound(cluster.Delete(t.Context(), present)); err != nil {
				t.Fatal(err)
			}
			if err := guard.check(t.Context()); err != nil || guard.changed.Load() {
				t.Errorf("without a configuration: %v", err)
			}
		})
	}
}
