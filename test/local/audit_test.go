package local

import (
	"slices"
	"strings"
	"testing"
)

// TestRequests: the plugin makes no request that its user may not make, and none that changes anything.
func TestRequests(t *testing.T) {
	all := people()
	for _, name := range []string{"narrow", "one", "two", "reader"} {
		for _, args := range [][]string{{"tree"}, {"explain", "pod/mailer"}, {"explain", "pod/web-0"}, {"impact", "pod/mailer"}, {"problems"}} {
			if _, stderr, code := all[name].run(t, append(args, "--local", "-n", "red,blue")...); code > 1 {
				t.Errorf("%s, %v: exit code %d: %s", name, args, code, stderr)
			}
		}
	}
	events, _, err := cluster.AuditLog(0)
	if err != nil {
		t.Fatal(err)
	}
	requests := 0
	for _, event := range events {
		if !strings.HasPrefix(event.UserAgent, "kubectl-graphview/") {
			continue
		}
		requests++
		reviews := event.Verb == "create" && slices.Contains([]string{"selfsubjectaccessreviews", "selfsubjectrulesreviews"}, event.ObjectRef.Resource)
		if !reviews && !slices.Contains([]string{"get", "list", "watch"}, event.Verb) {
			t.Errorf("%s %s", event.Verb, event.RequestURI)
		}
		if event.ResponseStatus.Code == 403 {
			t.Errorf("%s may not %s %s", event.User.Username, event.Verb, event.RequestURI)
		}
	}
	if requests == 0 {
		t.Error("no request of the plugin in the audit log")
	}
}
