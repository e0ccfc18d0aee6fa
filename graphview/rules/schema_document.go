package rules

import (
	"context"
	"errors"
	"maps"
	"time"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/refs/schema"
)

// A document that cannot be read is retried after schemaRetry, then later and later, up to
// schemaRetryMost.
const (
	schemaRetry     = 10 * time.Second
	schemaRetryMost = time.Hour
)

// schemaDocument is the document of one group and version.
type schemaDocument struct {
	address  string // of the last attempt
	kinds    map[graph.Kind]bool
	readings map[graph.Kind]*refs.Reading
	// faults are the errors of single schemas, as they were logged.
	faults map[graph.Kind]string
	// stale means that the served kinds of the domain changed after the document was read.
	stale bool
	// failures counts the last attempts that failed. A document with the same address is
	// retried at retry.
	failures int
	retry    time.Time
}

// narrow drops the kinds that are no longer wanted.
func (d *schemaDocument) narrow(wanted map[graph.Kind]bool) {
	unwanted := func(kind graph.Kind) bool { return !wanted[kind] }
	maps.DeleteFunc(d.kinds, func(kind graph.Kind, _ bool) bool { return unwanted(kind) })
	maps.DeleteFunc(d.readings, func(kind graph.Kind, _ *refs.Reading) bool { return unwanted(kind) })
	maps.DeleteFunc(d.faults, func(kind graph.Kind, _ string) bool { return unwanted(kind) })
}

// due reports whether the document has to be read.
func (d *schemaDocument) due(address string, wanted map[graph.Kind]bool) bool {
	switch {
	case address != d.address:
		return true
	case d.failures > 0:
		return !time.Now().Before(d.retry)
	default:
		return d.stale || !maps.Equal(wanted, d.kinds)
	}
}

// read reads the schemas of kinds in one document. If that fails, the earlier readings
// stay, unless the document has become too large.
func (s *SchemaReader) read(ctx context.Context, path string, d *schemaDocument, address string, kinds map[graph.Kind]bool) error {
	next := &schemaDocument{
		address: address, kinds: maps.Clone(kinds), readings: make(map[graph.Kind]*refs.Reading), faults: make(map[graph.Kind]string),
	}
	err := s.o.Source.Read(ctx, address, func(kind graph.Kind) bool { return kinds[kind] }, func(kind graph.Kind, of *schema.Schema, err error) {
		var reading *refs.Reading
		if err == nil {
			reading, err = readSchema(s.served, kind, of)
		}
		switch {
		case err != nil:
			next.faults[kind] = err.Error()
			if d.faults[kind] != err.Error() {
				s.o.Logger.Info("The schema of a kind is not read for references", "kind", kind.Kind, "group", kind.Group, "document", path, "reason", err.Error())
			}
		case reading != nil:
			next.readings[kind] = reading
		}
	})
	if err == nil {
		*d = *next
		return nil
	}
	if ctx.Err() == nil {
		s.fail(path, d, address, err)
	}
	return err
}

// fail records that a document cannot be read.
func (s *SchemaReader) fail(path string, d *schemaDocument, address string, err error) {
	level := 1
	if exceeded := (*budget.Exceeded)(nil); errors.As(err, &exceeded) {
		d.readings = nil
		if d.failures == 0 || d.address != address {
			level = 0
		}
	}
	s.o.Logger.V(level).Info("Schemas of a group cannot be read", "document", path, "reason", err.Error())
	d.address = address
	d.retry = time.Now().Add(min(schemaRetry<<min(d.failures, 16), schemaRetryMost))
	d.failures++
}

// readSchema is Read of a Served, whose panic is an error.
func readSchema(served *refs.Served, kind graph.Kind, of *schema.Schema) (reading *refs.Reading, err error) {
	defer panics.Recover(&err)
	return served.Read(kind, of)
}
