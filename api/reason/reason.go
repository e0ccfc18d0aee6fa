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
	// Malformed: a message or a request cannot be understood.
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
	// LimitExceeded: the view is larger, or costs more, than one may.
	LimitExceeded Reason = "LimitExceeded"
	// TooManyRequests: the user, the connection or the server has as many streams
	// or views as it may have, or as much that waits for slow readers.
	TooManyRequests Reason = "TooManyRequests"
	// Unavailable: the server cannot tell yet, or for now, such as who may see what
	// while the API server does not answer.
	Unavailable Reason = "Unavailable"
	// ClusterUnreachable: the cluster of the view is not connected to the hub.
	ClusterUnreachable Reason = "ClusterUnreachable"
	// Internal: an error of the server's.
	Internal Reason = "Internal"
)

// Remedy is what a client does about a Reason.
type Remedy int

const (
	// Retry: it passes by itself. Reconnect, with growing pauses.
	Retry Remedy = iota
	// Renew: a new token mends it. Without a new one it is as Stop.
	Renew
	// Stop: nothing changes until somebody acts.
	Stop
)

var table = map[Reason]struct {
	code   Code
	remedy Remedy
}{
	Deleted:            {CodeNormal, Stop},
	Stopping:           {CodeGoingAway, Retry},
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

// Known tells whether this is one of All. A newer server may have more.
func (r Reason) Known() bool {
	_, ok := table[r]
	return ok
}

// Code is the close code that goes with the reason.
func (r Reason) Code() Code {
	if row, ok := table[r]; ok {
		return row.code
	}
	return CodeInternalError
}

// Remedy is what a client does about the reason. What is not known passes.
func (r Reason) Remedy() Remedy { return table[r].remedy }

// RemedyOf is the remedy where only a code is known, or a reason that this client
// is too old to know.
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

// maxClose is how much text a close frame holds (RFC 6455, section 5.5, less the
// code).
const maxClose = 123

// CloseText is the text of a close frame: the reason, and as much of the message
// for people as there is room for.
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

// ParseCloseText is the inverse of CloseText. A text that does not begin with a
// known reason is all message.
func ParseCloseText(text string) (r Reason, message string) {
	word, rest, _ := strings.Cut(text, ": ")
	if r = Reason(word); r.Known() {
		return r, rest
	}
	return "", text
}
