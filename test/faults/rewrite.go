package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"k8s.io/client-go/kubernetes/scheme"
)

// rewrites applies the faults to the body of a request, and asks for a response in JSON for the
// faults that change it. It returns false if the body cannot be read.
func (h *hit) rewrites(r *http.Request) bool {
	for _, f := range h.faults {
		if f.Answered != nil {
			r.Header.Set("Accept", "application/json")
			r.Header.Del("Accept-Encoding")
		}
		if f.Sent == nil || r.ContentLength == 0 {
			continue
		}
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return false
		}
		// Typed clients send Protobuf.
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
		if err != nil {
			return false
		}
		if text, err = json.Marshal(object); err != nil {
			return false
		}
		text = f.Sent(text)
		r.Header.Set("Content-Type", "application/json")
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	}
	return true
}

// rewritten applies the faults to the body of a response.
func (h *hit) rewritten(r *http.Response) error {
	for _, f := range h.faults {
		if f.Answered == nil || h.verb == "watch" {
			continue
		}
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return fmt.Errorf("rewrite an answer: %w", err)
		}
		if err := r.Body.Close(); err != nil {
			return fmt.Errorf("rewrite an answer: %w", err)
		}
		if r.StatusCode == http.StatusOK {
			text = f.Answered(text)
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		r.Header.Set("Content-Length", strconv.Itoa(len(text)))
	}
	return nil
}
