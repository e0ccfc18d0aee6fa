package reason

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Code is a WebSocket close code. Every transport uses them.
type Code int

// The codes that a stream may end with.
const (
	CodeNormal          Code = 1000
	CodeGoingAway       Code = 1001
	CodeInvalidPayload  Code = 1007
	CodePolicyViolation Code = 1008
	CodeInternalError   Code = 1011
	CodeTryAgainLater   Code = 1013
)

// Reason is one word that says why a stream ended, or was not begun.
type Reason string

const (
	// Deleted: the GraphView was deleted.
	Deleted Reason = "Deleted"
	// Stopping: the server stops, or no longer has the view.
	Stopping Reason = "Stopping"
	// Outdated: the graph that the client has can no longer be changed step by step. A client that sent
	// "have" reconnects at once and sends it again.
	Outdated Reason = "Outdated"
	// Malformed: a message or a request cannot be parsed.
	Malformed Reason = "Malformed"
	// UnexpectedMessage: the client sent a message on a stream that takes none.
	UnexpectedMessage Reason = "UnexpectedMessage"
	// Invalid: the view's spec is not accepted.
	Invalid Reason = "Invalid"
	// NotFound: there is no such GraphView, or no such channel.
	NotFound Reason = "NotFound"
	// Forbidden: the subscriber may not do this, or no longer.
	Forbidden Reason = "Forbidden"
	// Unauthorized: the credentials expired or were revoked.
	Unauthorized Reason = "Unauthorized"
	// LimitExceeded: the view is larger, or costs more, than the limits allow.
	LimitExceeded Reason = "LimitExceeded"
	// TooManyRequests: the user, the connection or the server has reached its limit of
	// streams or views, or of bytes that wait for slow readers.
	TooManyRequests Reason = "TooManyRequests"
	// Unavailable: the server cannot answer at present, for example because the API
	// server does not answer its access reviews.
	Unavailable Reason = "Unavailable"
	// ClusterUnreachable: the cluster of the view is not connected to the hub.
	ClusterUnreachable Reason = "ClusterUnreachable"
	// Internal: the server failed.
	Internal Reason = "Internal"
)

// Remedy is the reaction of a client to a Reason.
type Remedy int

const (
	// Retry: the cause is temporary. Reconnect with backoff.
	Retry Remedy = iota
	// Renew: reconnect with a new token. A client without one stops.
	Renew
	// Stop: the cause does not pass by itself. Do not reconnect.
	Stop
)

var table = map[Reason]struct {
	code   Code
	remedy Remedy
}{
	Deleted:            {CodeNormal, Stop},
	Stopping:           {CodeGoingAway, Retry},
	Outdated:           {CodeGoingAway, Retry},
	Malformed:          {CodeInvalidPayload, Stop},
	UnexpectedMessage:  {CodePolicyViolation, Stop},
	Invalid:            {CodePolicyViolation, Stop},
	NotFound:           {CodePolicyViolation, Stop},
	Forbidden:          {CodePolicyViolation, Stop},
	Unauthorized:       {CodePolicyViolation, Renew},
	LimitExceeded:      {CodeTryAgainLater, Retry},
	TooManyRequests:    {CodeTryAgainLater, Retry},
	Unavailable:        {CodeTryAgainLater, Retry},
	ClusterUnreachable: {CodeTryAgainLater, Retry},
	Internal:           {CodeInternalError, Retry},
}

// All returns the reasons, sorted.
func All() []Reason { return slices.Sorted(maps.Keys(table)) }

// Known reports whether All contains the reason. A newer server may send others.
func (r Reason) Known() bool {
	_, ok := table[r]
	return ok
}

// Code returns the close code that goes with the reason.
func (r Reason) Code() Code {
	if row, ok := table[r]; ok {
		return row.code
	}
	return CodeInternalError
}

// Remedy returns the reaction of a client to the reason: Retry for an unknown one.
func (r Reason) Remedy() Remedy { return table[r].remedy }

// RemedyOf returns the remedy for a reason and a close code. The code decides if the
// reason is empty or unknown to this client.
func RemedyOf(r Reason, c Code) Remedy {
	if r.Known() {
		return r.Remedy()
	}
	switch c {
	case CodeNormal, CodeInvalidPayload, CodePolicyViolation:
		return Stop
	default:
		return Retry
	}
}

// maxClose is the size of the text in a close frame, in bytes (RFC 6455, section 5.5:
// 125, less two for the code).
const maxClose = 123

// CloseText returns the text of a close frame: the reason, and as much of the message
// as fits.
func CloseText(r Reason, message string) string {
	text := string(r)
	if message != "" {
		text += ": " + message
	}
	if len(text) <= maxClose {
		return text
	}
	end := maxClose
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// ParseCloseText is the inverse of CloseText. It returns a text that does not begin
// with a known reason as the message.
func ParseCloseText(text string) (r Reason, message string) {
	word, rest, _ := strings.Cut(text, ": ")
	if r = Reason(word); r.Known() {
		return r, rest
	}
	return "", text
}
