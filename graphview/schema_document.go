package graphview

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

// boundSchemaRules bounds what is kept of the schemas of all kinds together.
var boundSchemaRules = budget.Declare("schema_rules", "references that the schemas of all kinds tell", 100_000)

// schemaRetry is after what time a document that cannot be read is tried again, and
// schemaRetryMost the longest that this grows to.
const (
	schemaRetry     = 10 * time.Second
	schemaRetryMost = time.Hour
)

// schemaDocument is what was read of the document of one group and version.
type schemaDocument struct {
	address  string // that was tried last
	kinds    map[graph.Kind]bool
	readings map[graph.Kind]*refs.Reading
	// faults are why schemas of kinds are not read, as they were logged.
	faults map[graph.Kind]string
	// leftOut is the first kind for which there was no more room than room.
	leftOut graph.Kind
	room    int
	// stale: since it was read, the cluster serves other kinds of the domain.
	stale bool
	// failures are how often it could not be read, one after the other, and retry is from
	// when on it is tried again though its address is the same.
	failures int
	retry    time.Time
}

// narrow forgets the kinds that are not wanted any more.
func (d *schemaDocument) narrow(wanted map[graph.Kind]bool) {
	unwanted := func(kind graph.Kind) bool { return !wanted[kind] }
	maps.DeleteFunc(d.kinds, func(kind graph.Kind, _ bool) bool { return unwanted(kind) })
	maps.DeleteFunc(d.readings, func(kind graph.Kind, _ *refs.Reading) bool { return unwanted(kind) })
	maps.DeleteFunc(d.faults, func(kind graph.Kind, _ string) bool { return unwanted(kind) })
	if unwanted(d.leftOut) {
		d.leftOut = graph.Kind{}
	}
}

// due tells whether the document is to be read.
func (d *schemaDocument) due(address string, wanted map[graph.Kind]bool, room int) bool {
	switch {
	case address != d.address:
		return true
	case d.failures > 0:
		return !time.Now().Before(d.retry)
	default:
		return d.stale || !maps.Equal(wanted, d.kinds) || d.leftOut != (graph.Kind{}) && room > d.room
	}
}

func (d *schemaDocument) rules() int {
	n := 0
	for _, reading := range d.readings {
		n += reading.Rules()
	}
	return n
}

// room is how much the schemas of a document may tell, beside those of all others.
func (s *schemaFollower) room(of *schemaDocument) int {
	left := int(boundSchemaRules.Limit())
	for _, d := range s.documents {
		if d != of {
			left -= d.rules()
		}
	}
	return left
}

// read reads the schemas of kinds in one document. If it cannot be read, what was read
// of it before stays, unless it has become too large.
func (s *schemaFollower) read(ctx context.Context, path string, d *schemaDocument, address string, kinds map[graph.Kind]bool) error {
	next := &schemaDocument{
		address: address, kinds: maps.Clone(kinds), readings: make(map[graph.Kind]*refs.Reading), faults: make(map[graph.Kind]string), room: s.room(d),
	}
	meter := boundSchemaRules.Meter()
	_ = meter.Take(int(boundSchemaRules.Limit()) - next.room) // what others have, which is never too much
	err := s.source.Read(ctx, address, func(kind graph.Kind) bool { return kinds[kind] }, func(kind graph.Kind, of *schema.Schema, err error) {
		var reading *refs.Reading
		if err == nil {
			reading, err = readSchema(s.served, kind, of)
		}
		switch {
		case err != nil:
			next.faults[kind] = err.Error()
			if d.faults[kind] != err.Error() {
				s.log.Info("The schema of a kind is not read for references", "kind", kind.Kind, "group", kind.Group, "document", path, "reason", err.Error())
			}
		case meter.Take(reading.Rules()) != nil:
			if next.leftOut == (graph.Kind{}) {
				next.leftOut = kind
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

// fail notes that a document cannot be read.
func (s *schemaFollower) fail(path string, d *schemaDocument, address string, err error) {
	level := 1
	if exceeded := (*budget.Exceeded)(nil); errors.As(err, &exceeded) {
		d.readings = nil
		if d.failures == 0 || d.address != address {
			level = 0
		}
	}
	s.log.V(level).Info("Schemas of a group cannot be read", "document", path, "reason", err.Error())
	d.address = address
	d.retry = time.Now().Add(min(schemaRetry<<min(d.failures, 16), schemaRetryMost))
	d.failures++
}

// readSchema is refs' Read; a panic of it is an error.
func readSchema(served *refs.Served, kind graph.Kind, of *schema.Schema) (reading *refs.Reading, err error) {
	defer panics.Recover(&err)
	return served.Read(kind, of)
}
