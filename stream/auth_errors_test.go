package stream

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apiserver/pkg/authentication/authenticator"
)

// TestRefusedCredentialsAreOneLine: refused credentials are logged once, and not as an error
// of the server.
func TestRefusedCredentialsAreOneLine(t *testing.T) {
	var lines []string
	logger := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
	for name, test := range map[string]struct {
		err       error
		wantLines int
	}{
		"wrong token":        {errors.New("invalid bearer token"), 1},
		"no credential":      {nil, 0},
		"a huge certificate": {errors.New(strings.Repeat("x", 750_000)), 1},
	} {
		t.Run(name, func(t *testing.T) {
			lines = nil
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			r.Header.Set("Authorization", "Bearer secret")
			_, ok, err := withAuthErrors(authenticator.RequestFunc(func(*http.Request) (*authenticator.Response, bool, error) {
				return nil, false, test.err
			}), logger).AuthenticateRequest(r)
			if ok || err != nil {
				t.Errorf("%v, %v: whoever gets the error logs it with a stack trace", ok, err)
			}
			if text := strings.Join(lines, "\n"); len(lines) != test.wantLines || len(text) > 1024 || strings.Contains(text, "secret") || strings.Contains(text, `"error"`) {
				t.Errorf("%d lines, want %d, of %d bytes:\n%.1024s", len(lines), test.wantLines, len(text), text)
			}
		})
	}
}

// TestRefusedCredentialsAreFewLines: refused requests cannot fill the log.
func TestRefusedCredentialsAreFewLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := 0
		logger := funcr.New(func(string, string) { lines++ }, funcr.Options{})
		wrong := withAuthErrors(authenticator.RequestFunc(func(*http.Request) (*authenticator.Response, bool, error) {
			return nil, false, errors.New("invalid bearer token")
		}), logger)
		knock := func() {
			for range 1000 {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
				if _, ok, err := wrong.AuthenticateRequest(r); ok || err != nil {
					t.Fatal(ok, err)
				}
			}
		}
		knock()
		if lines != 20 {
			t.Errorf("%d lines at once", lines)
		}
		time.Sleep(time.Second)
		knock()
		if lines != 21 {
			t.Errorf("%d lines after a second", lines)
		}
	})
}
