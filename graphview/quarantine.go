package graphview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"

	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/quarantine"
)

// Reasons of an InvalidSpecError that no author of a spec is to blame for by a rule.
const (
	// ReasonQuarantined: the process was ended while it worked for this.
	ReasonQuarantined = "Quarantined"
	// ReasonInternalError: the compiler panicked.
	ReasonInternalError = "InternalError"
)

// The kinds of Work that are no resource.
const (
	workView    = "GraphView"
	workRequest = "graph request"
	workRule    = "ReferenceRule"
)

// notedSize is from how many bytes on an object is noted while its references are
// found: what is smaller is found in microseconds.
const notedSize = 32 << 10

// workOf is work for what a user declared in a spec.
func workOf(kind, namespace, name string, spec any) quarantine.Work {
	h := fnv.New64a()
	// A spec is text and numbers: it always encodes.
	_ = json.NewEncoder(h).Encode(spec)
	return quarantine.Work{Kind: kind, Namespace: namespace, Name: name, Version: h.Sum64()}
}

// compiled calls a compiler, whose errors are an *InvalidSpecError or a context's,
// unless the process was ended by what it is to compile.
func (e *Engine) compiled(ctx context.Context, w quarantine.Work, compile func() error) error {
	turn, err := e.o.Quarantine.Begin(ctx, w)
	if err != nil {
		return refusedSpec(err)
	}
	defer turn.End()
	err = func() (err error) {
		defer panics.Recover(&err)
		return compile()
	}()
	if err != nil && e.notePanic(err, w.Kind) {
		return &InvalidSpecError{Reason: ReasonInternalError, Errors: []error{fmt.Errorf("spec: %w", err)}}
	}
	return err
}

// refusedSpec is why Begin did not let a spec be compiled.
func refusedSpec(err error) error {
	if refusal, ok := errors.AsType[*quarantine.Refusal](err); ok {
		return &InvalidSpecError{Reason: ReasonQuarantined, Errors: []error{fmt.Errorf("spec: %w", refusal)}}
	}
	return fmt.Errorf("compile: %w", err)
}

// reduceSecret is what watches of releases do with a Secret that they read.
func (e *Engine) reduceSecret(ctx context.Context, namespace, name string, version uint64, object []byte) ([]byte, error) {
	turn, err := e.o.Quarantine.Begin(ctx, quarantine.Work{Kind: "secrets", Namespace: namespace, Name: name, Version: version})
	if err != nil {
		return nil, err
	}
	defer turn.End()
	return e.reducer.Secret(object), nil
}
