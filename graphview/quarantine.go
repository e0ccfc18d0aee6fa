package graphview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"

	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/quarantine"
	"graphview.dev/graphview/spec"
)

// Reasons of an spec.InvalidError that no author of a spec is to blame for by a rule.
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
func workOf(kind, namespace, name string, declared any) quarantine.Work {
	h := fnv.New64a()
	// A spec is text and numbers: it always encodes.
	_ = json.NewEncoder(h).Encode(declared)
	return quarantine.Work{Kind: kind, Namespace: namespace, Name: name, Version: h.Sum64()}
}

// compiled calls a compiler, whose errors are an *spec.InvalidError or a context's,
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
		return &spec.InvalidError{Reason: ReasonInternalError, Errors: []error{fmt.Errorf("spec: %w", err)}}
	}
	return err
}

// unknown tells that nothing was found out about a spec: nobody waited for it.
func unknown(err error) bool {
	_, invalid := errors.AsType[*spec.InvalidError](err)
	return err != nil && !invalid
}

// refusedSpec is why Begin did not let a spec be compiled.
func refusedSpec(err error) error {
	if refusal, ok := errors.AsType[*quarantine.Refusal](err); ok {
		return &spec.InvalidError{Reason: ReasonQuarantined, Errors: []error{fmt.Errorf("spec: %w", refusal)}}
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
