package oracle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// message is one message of a stream, or a served Graph object.
type message struct {
	Actions  []action       `json:"actions"`
	Warnings []Warning      `json:"warnings"`
	Cleared  []Warning      `json:"cleared"`
	Error    *StreamError   `json:"error"`
	Kinds    []resourceKind `json:"kinds"`
	Rev      string         `json:"rev"`
	Synced   bool           `json:"synced"`
	Reset    bool           `json:"reset"`
	Channel  *int64         `json:"channel"`
	Meta     map[string]any `json:"metadata"`

	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// resourceKind has the kind of a resource.
type resourceKind struct {
	Group    string `json:"g"`
	Version  string `json:"v"`
	Resource string `json:"r"`
	Kind     string `json:"k"`
	All      bool   `json:"a"`
}

// action has exactly one member.
type action struct {
	SetVertex *struct {
		Vertex  vertex          `json:"vx"`
		Object  json.RawMessage `json:"o"`
		Nodes   json.RawMessage `json:"j"`
		Fields  json.RawMessage `json:"f"`
		Summary json.RawMessage `json:"m"`
	} `json:"svx"`
	DeleteVertex *struct {
		Vertex vertex `json:"vx"`
	} `json:"dvx"`
	SetArc *struct {
		arc
		Attributes struct {
			Attributes
			// Words has the verbs of the arc's fields.
			Words []string `json:"w"`
		} `json:"a"`
	} `json:"sarc"`
	DeleteArc *arc `json:"darc"`
}

type arc struct {
	From vertex `json:"s"`
	To   vertex `json:"d"`
	Type string `json:"t"`
}

func (a arc) key() ArcKey { return ArcKey{From: a.From.key(), To: a.To.key(), Type: a.Type} }

type vertex struct {
	Group     string `json:"g"`
	Version   string `json:"v"`
	Resource  string `json:"r"`
	Namespace string `json:"ns"`
	Name      string `json:"n"`
}

func (v vertex) key() VertexKey { return VertexKey(v) }

// Warning is a warning of a stream. Its type and attributes identify it.
type Warning struct {
	Type       string         `json:"t"`
	Message    string         `json:"m"`
	Attributes map[string]any `json:"a"`
}

func (w Warning) key() string {
	return fmt.Sprintf("%s %#v", w.Type, w.Attributes) // fmt sorts the keys of maps
}

// StreamError ends a stream.
type StreamError struct {
	Code       int    `json:"code"`
	CodeString string `json:"code_string"`
	Reason     string `json:"reason"`
	Message    string `json:"message"`
}

func (e *StreamError) Error() string {
	return fmt.Sprintf("%s (%d) %s: %s", e.CodeString, e.Code, e.Reason, e.Message)
}

// parseMessage decodes one message. With strict, an unknown member is an
// error.
func parseMessage(text []byte, strict bool) (message, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if strict {
		decoder.DisallowUnknownFields()
	}
	var m message
	if err := decoder.Decode(&m); err != nil {
		return message{}, fmt.Errorf("parse message: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return message{}, errors.New("parse message: more than one JSON value in it")
	}
	return m, nil
}
