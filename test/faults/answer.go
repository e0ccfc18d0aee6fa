package faults

import (
	"encoding/json"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reasons maps status codes to the API server's reasons.
var reasons = map[int]metav1.StatusReason{
	http.StatusForbidden:           metav1.StatusReasonForbidden,
	http.StatusNotFound:            metav1.StatusReasonNotFound,
	http.StatusGone:                metav1.StatusReasonExpired,
	http.StatusTooManyRequests:     metav1.StatusReasonTooManyRequests,
	http.StatusInternalServerError: metav1.StatusReasonInternalError,
	http.StatusServiceUnavailable:  metav1.StatusReasonServiceUnavailable,
}

func status(code int, resource string) []byte {
	text, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reasons[code],
		Message: fmt.Sprintf("the proxy answers %d", code), Details: &metav1.StatusDetails{Kind: resource},
	})
	if err != nil {
		panic(err) // strings and numbers always have a JSON form
	}
	return text
}

// answer refuses a request like the API server.
func answer(w http.ResponseWriter, code int, resource string) {
	w.Header().Set("Content-Type", "application/json")
	if code == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(code)
	_, _ = w.Write(status(code, resource))
}

// expire answers a watch like the API server does for a position that is too old.
func expire(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"type":"ERROR","object":%s}`+"\n", status(http.StatusGone, ""))
}
