package graphview

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/schemas"
)

// boundSchemaRules bounds what the schemas of all kinds together tell.
var boundSchemaRules = budget.Declare("schema_rules", "references that the schemas of all kinds tell", 100_000)

// schemaPause is what a pass over schemas waits for, so that one sees what moves
// together; a pass that took long is followed by a pause that is longer by schemaRest.
const (
	schemaPause = time.Second
	schemaRest  = 4
)

// schemaFollower keeps what the schemas of the kinds that views select tell about
// references. One goroutine uses it.
type schemaFollower struct {
	engine *Engine
	source *schemas.Source
	// documents are those that were read, by their paths in the index.
	documents map[string]schemaDocument
	readings  map[graph.Kind]*refs.Reading
	served    *refs.Served // that the readings are of
}

// schemaDocument is which one was read, and for which kinds.
type schemaDocument struct {
	address string
	kinds   map[graph.Kind]bool
}

// followSchemas reads the schemas of the kinds that views select, as they and the
// schemas change. What cannot be read tells nothing: references are then what keys say.
func (e *Engine) followSchemas(ctx context.Context) error {
	s := &schemaFollower{engine: e, source: e.schemas, documents: map[string]schemaDocument{}, readings: map[graph.Kind]*refs.Reading{}}
	pause := schemaPause
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		looked := e.discovery.Looked()
		timer.Reset(pause)
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		began := time.Now()
		if err := s.pass(ctx); err != nil && ctx.Err() == nil {
			e.o.Logger.V(1).Info("Schemas cannot be read, references are inferred from keys alone", "reason", err.Error())
		}
		pause = max(schemaPause, schemaRest*time.Since(began))
		select {
		case <-ctx.Done():
			return nil
		case <-looked:
		case <-e.newFeeds:
		}
	}
}

// pass reads what has changed since the last one.
func (s *schemaFollower) pass(ctx context.Context) error {
	wanted := s.engine.selectedKinds()
	if len(wanted) == 0 && len(s.documents) == 0 {
		return nil
	}
	index, err := s.source.Index(ctx)
	if err != nil {
		return err
	}
	served := s.engine.rules.servedNow()
	changed := served.Changed(s.served)
	s.served = served
	for _, path := range slices.Sorted(maps.Keys(s.documents)) {
		for kind := range s.documents[path].kinds {
			if !wanted[path][kind] || index[path] == "" {
				delete(s.readings, kind)
			}
		}
		if wanted[path] == nil || index[path] == "" {
			delete(s.documents, path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(wanted)) {
		kinds, known := wanted[path], s.documents[path]
		if index[path] == "" || index[path] == known.address && maps.Equal(kinds, known.kinds) && !concerns(changed, kinds) {
			continue
		}
		if err := s.read(ctx, index[path], kinds); err != nil {
			if ctx.Err() != nil {
				return err
			}
			// It is tried again with the next pass.
			s.engine.o.Logger.V(1).Info("Schemas of a group cannot be read", "document", path, "reason", err.Error())
			delete(s.documents, path)
			continue
		}
		s.documents[path] = schemaDocument{index[path], kinds}
	}
	s.engine.rules.tell(s.bounded())
	return nil
}

func concerns(domains []string, kinds map[graph.Kind]bool) bool {
	for kind := range kinds {
		if slices.Contains(domains, refs.DomainOf(kind.Group)) {
			return true
		}
	}
	return false
}

// read reads the schemas of kinds in one document.
func (s *schemaFollower) read(ctx context.Context, address string, kinds map[graph.Kind]bool) error {
	return s.source.Read(ctx, address, func(kind graph.Kind) bool { return kinds[kind] }, func(kind graph.Kind, schema *refs.Schema, err error) {
		delete(s.readings, kind)
		if err == nil {
			var reading *refs.Reading
			if reading, err = readSchema(s.served, kind, schema); reading != nil {
				s.readings[kind] = reading
			}
		}
		if err != nil {
			s.engine.o.Logger.Info("The schema of a kind is not read for references", "kind", kind.Kind, "group", kind.Group, "reason", err.Error())
		}
	})
}

// readSchema is refs' Read; a panic of it is an error.
func readSchema(served *refs.Served, kind graph.Kind, schema *refs.Schema) (reading *refs.Reading, err error) {
	defer panics.Recover(&err)
	return served.Read(kind, schema)
}

// bounded returns the readings that there is room for, by the names of the kinds.
func (s *schemaFollower) bounded() map[graph.Kind]*refs.Reading {
	meter := boundSchemaRules.Meter()
	kept := make(map[graph.Kind]*refs.Reading, len(s.readings))
	for _, kind := range slices.SortedFunc(maps.Keys(s.readings), refs.CompareKinds) {
		if err := meter.Take(s.readings[kind].Rules()); err != nil {
			s.engine.o.Logger.Info("The schemas of kinds are not read for references", "from", fmt.Sprintf("%s/%s", kind.Group, kind.Kind), "reason", err.Error())
			break
		}
		kept[kind] = s.readings[kind]
	}
	return kept
}

// selectedKinds are the kinds that views watch of which a schema may tell more than the
// table, by the paths of their documents.
func (e *Engine) selectedKinds() map[string]map[graph.Kind]bool {
	wanted := make(map[string]map[graph.Kind]bool)
	for _, f := range e.allFeeds() {
		if kind := kindOf(f.resource); refs.IsOpen(kind) {
			path := schemas.Path(f.resource.Group, f.resource.Version)
			if wanted[path] == nil {
				wanted[path] = make(map[graph.Kind]bool)
			}
			wanted[path][kind] = true
		}
	}
	return wanted
}

// noteFeed has the schemas of what is watched now looked at.
func (e *Engine) noteFeed() {
	select {
	case e.newFeeds <- struct{}{}:
	default:
	}
}
