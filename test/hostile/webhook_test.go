package hostile

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"graphview.dev/test/patience"
)

// review is what an API server asks a webhook about a GraphView.
func review(t *testing.T, expression string) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": map[string]any{
			"uid": "1", "kind": map[string]any{"group": "graphview.dev", "version": "v1alpha1", "kind": "GraphView"},
			"resource": map[string]any{"group": "graphview.dev", "version": "v1alpha1", "resource": "graphviews"},
			"name":     "x", "namespace": "x", "operation": "CREATE", "userInfo": map[string]any{},
			"object": map[string]any{
				"apiVersion": "graphview.dev/v1alpha1", "kind": "GraphView", "metadata": map[string]any{"name": "x", "namespace": "x"},
				"spec": map[string]any{"queries": []any{map[string]any{"include": map[string]any{"resourceSelectorExpression": expression}}}},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestStrangersAtTheWebhook: clients without credentials at the webhook's port, slow or fast,
// do not delay requests of the API server.
func TestStrangersAtTheWebhook(t *testing.T) {
	// A stranger has no reason to verify the certificate.
	stranger := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	defer stranger.CloseIdleConnections()
	url := fmt.Sprintf("https://127.0.0.1:%d/validate-graphview-dev-v1alpha1-graphview", webhook)
	post := func(body []byte, limit time.Duration) string {
		ctx, cancel := context.WithTimeout(t.Context(), patience.For(limit))
		defer cancel()
		ask, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		ask.Header.Set("Content-Type", "application/json")
		answer, err := stranger.Do(ask)
		if err != nil {
			return "no answer"
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			return "half an answer"
		}
		verdict := "refused"
		if strings.Contains(string(text), `"allowed":true`) {
			verdict = "allowed"
		}
		return fmt.Sprintf("%d %s", answer.StatusCode, verdict)
	}
	eventually(t, func() string {
		if got := post(review(t, "true"), within); !strings.HasPrefix(got, "200 ") {
			return got
		}
		return ""
	})
	meanwhile(t, func(tries *tally) {
		var bodies [][]byte
		for _, bomb := range bombs() {
			bodies = append(bodies, review(t, bomb))
		}
		inParallel(24, 10*len(bodies), func(i int) { tries.add(post(bodies[i%len(bodies)], 2*time.Second)) })
		inParallel(24, 48, func(int) { tries.add("6 MB: " + post(review(t, strings.Repeat("x", 6<<20)), 5*time.Second)) })
		inParallel(24, 48, func(int) { tries.add("deep: " + post([]byte(strings.Repeat("[", 1<<20)), 5*time.Second)) })
		tries.measure(t)
		// A real request is answered.
		eventually(t, func() string {
			if got := post(review(t, "resource == 'pods'"), within); got != "200 allowed" {
				return "an honest question: " + got
			}
			return ""
		})
	})
}
