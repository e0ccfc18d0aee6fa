package faults

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/graphview"
	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
)

// TestOneResourceCannotBeRead: the others are synced on time, status and stream
// say which and why, and it heals.
func TestOneResourceCannotBeRead(t *testing.T) {
	const timeout = 2 * time.Second
	tests := map[string]struct {
		fault Fault
		// want is in the message; waits: only after the time-out.
		want  string
		waits bool
	}{
		"forbidden":   {Fault{Code: http.StatusForbidden}, "403", false},
		"not there":   {Fault{Code: http.StatusNotFound}, "404", false},
		"broken":      {Fault{Code: http.StatusInternalServerError}, "500", true},
		"busy":        {Fault{Code: http.StatusTooManyRequests}, "429", true},
		"silent":      {Fault{Stall: true}, "not synced within 2s", true},
		"ends early":  {Fault{Truncate: 100}, "secrets ended early after 0 objects (", true},
		"ends calmly": {Fault{Truncate: 100, Clean: true}, "secrets ended early after 0 objects (", true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newClient(t)
			namespace := fixture.Namespace(t, plane, c, "unreadable")
			meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }
			if err := c.Create(t.Context(), &corev1.Secret{ObjectMeta: meta("s")}); err != nil {
				t.Fatal(err)
			}
			if err := c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: meta("c")}); err != nil {
				t.Fatal(err)
			}
			p := newProxy(t)
			test.fault.Chance, test.fault.Resources = 1, []string{"secrets"}
			p.Break(1, test.fault)
			r := runEngine(t, p, graphview.Options{SyncTimeout: timeout})
			v := oracle.View{
				Queries:    []oracle.Query{{Include: &oracle.Include{ResourceSelectorExpression: "group == '' && resource in ['secrets', 'configmaps']"}}},
				Namespaces: &oracle.Namespaces{Names: []string{namespace}},
			}
			without := v
			without.Queries = []oracle.Query{{Include: &oracle.Include{ResourceSelectorExpression: "group == '' && resource == 'configmaps'"}}}
			began := time.Now()
			r.apply("view", v)
			sub := subscribe(t.Context(), "view", r.view)
			defer sub.stop()

			equals := func(v oracle.View) func() string {
				return func() string {
					want, err := oracle.Build(t.Context(), plane.Config(), v)
					if err != nil {
						return err.Error()
					}
					return sub.Differs(want)
				}
			}
			// Without the secrets, and synced, which differs looks at.
			fixture.Eventually(t, 2*timeout+5*time.Second, pollInterval, equals(without))
			if took := time.Since(began); test.waits && took < timeout {
				t.Errorf("synced after %s, though there was hope until %s", took, timeout)
			}
			// The message may say that the secrets are being listed before it says why they cannot be.
			fixture.Eventually(t, 30*time.Second, pollInterval, func() string { return unreadable(r, sub, test.want) })

			p.Heal()
			fixture.Eventually(t, time.Minute, pollInterval, equals(v))
			fixture.Eventually(t, 10*time.Second, pollInterval, func() string {
				if live := sub.Warnings(); len(live) > 0 {
					return fmt.Sprintf("warnings: %v", live)
				}
				status, _ := r.current().Status(viewName("view"))
				for _, row := range status.Resources {
					if !row.Synced || row.Message != "" || len(status.Warnings) > 0 {
						return fmt.Sprintf("status: %+v", status)
					}
				}
				return ""
			})
		})
	}
}

// unreadable says where status and stream do not name the secrets, and only them.
func unreadable(r *running, sub *viewer, want string) string {
	status, _ := r.current().Status(viewName("view"))
	for _, row := range status.Resources {
		secrets := row.Resource == "secrets"
		if row.Synced == secrets || secrets != strings.Contains(row.Message, want) {
			return fmt.Sprintf("row %+v", row)
		}
	}
	if len(status.Warnings) != 1 || !strings.Contains(status.Warnings[0], "secrets") || !strings.Contains(status.Warnings[0], want) {
		return fmt.Sprintf("the status warns: %q", status.Warnings)
	}
	live := sub.Warnings()
	if len(live) != 1 || live[0].Type != "INFORMER_SYNC_FAILED" || live[0].Attributes["r"] != "secrets" || !strings.Contains(live[0].Message, want) {
		return fmt.Sprintf("the stream warns: %v", live)
	}
	return ""
}
