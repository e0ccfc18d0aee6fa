package graphview

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/refs/schema"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/schemas"
)

// schemaPause is what a pass over schemas waits for, so that one sees what moves
// together; a pass that took long is followed by a pause that is longer by schemaRest.
const (
	schemaPause = time.Second
	schemaRest  = 4
)

// schemaSource is where documents are read: a [schemas.Source].
type schemaSource interface {
	Index(ctx context.Context) (map[string]string, error)
	Read(ctx context.Context, address string, wanted func(graph.Kind) bool, yield func(graph.Kind, *schema.Schema, error)) error
}

// schemaFollower keeps what the schemas of the kinds that views select tell about
// references. One goroutine uses it.
type schemaFollower struct {
	source schemaSource
	rules  *rules
	log    logr.Logger
	// documents are those that were read, or should have been, by their paths in the index.
	documents map[string]*schemaDocument
	served    *refs.Served // that the readings are of
	leftOut   graph.Kind   // the first kind for which there is no room
	// spent is how long the last pass took, without the documents that could not be read.
	spent time.Duration
}

func (e *Engine) newSchemaFollower() *schemaFollower {
	return &schemaFollower{source: e.schemas, rules: e.rules, log: e.o.Logger, documents: make(map[string]*schemaDocument)}
}

// followSchemas reads the schemas of the kinds that views select, as they and the
// schemas change. What cannot be read tells nothing: references are then what keys say.
func (e *Engine) followSchemas(ctx context.Context) error {
	s := e.newSchemaFollower()
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
		if err := s.pass(ctx, e.selectedKinds()); err != nil && ctx.Err() == nil {
			e.o.Logger.V(1).Info("Schemas cannot be read, references are inferred from keys alone", "reason", err.Error())
		}
		pause = max(schemaPause, schemaRest*s.spent)
		select {
		case <-ctx.Done():
			return nil
		case <-looked:
		case <-e.newFeeds:
		}
	}
}

// pass reads what has changed since the last one. What a document tells is told before
// the next one is read: an extension server that hangs delays nothing that was read.
func (s *schemaFollower) pass(ctx context.Context, wanted map[string]map[graph.Kind]bool) error {
	s.spent = 0
	if len(wanted) == 0 && len(s.documents) == 0 {
		return nil
	}
	began := time.Now()
	index, err := s.source.Index(ctx)
	if err != nil {
		return err
	}
	s.spent = time.Since(began)
	served := s.rules.servedNow()
	changed := served.Changed(s.served)
	s.served = served
	for path, d := range s.documents {
		if index[path] == "" || wanted[path] == nil {
			delete(s.documents, path)
			continue
		}
		d.narrow(wanted[path])
		d.stale = d.stale || concerns(changed, wanted[path])
	}
	s.tell()
	for _, path := range s.inOrder(wanted) {
		d := s.documents[path]
		if index[path] == "" || d != nil && !d.due(index[path], wanted[path], s.room(d)) {
			continue
		}
		if d == nil {
			d = &schemaDocument{}
			s.documents[path] = d
		}
		began = time.Now()
		if err := s.read(ctx, path, d, index[path], wanted[path]); ctx.Err() != nil {
			return err
		} else if err == nil {
			s.spent += time.Since(began)
		}
		s.tell()
	}
	s.noteLeftOut()
	return nil
}

// inOrder are the paths that are wanted, those last that could not be read.
func (s *schemaFollower) inOrder(wanted map[string]map[graph.Kind]bool) []string {
	failures := func(path string) int {
		if d := s.documents[path]; d != nil {
			return d.failures
		}
		return 0
	}
	return slices.SortedFunc(maps.Keys(wanted), func(a, b string) int { return cmp.Or(cmp.Compare(failures(a), failures(b)), strings.Compare(a, b)) })
}

func concerns(domains []string, kinds map[graph.Kind]bool) bool {
	for kind := range kinds {
		if slices.Contains(domains, refs.DomainOf(kind.Group)) {
			return true
		}
	}
	return false
}

// tell has references found by all readings. Of a kind of which several versions were
// read, that of the newest stable one counts.
func (s *schemaFollower) tell() {
	all := make(map[graph.Kind]*refs.Reading)
	for _, of := range slices.SortedFunc(maps.Keys(s.documents), func(a, b string) int {
		return cmp.Or(resources.CompareVersions(schemas.Version(a), schemas.Version(b)), strings.Compare(a, b))
	}) {
		maps.Copy(all, s.documents[of].readings)
	}
	s.rules.tell(all)
}

// noteLeftOut logs for which kind there is no room, once.
func (s *schemaFollower) noteLeftOut() {
	var first graph.Kind
	for _, path := range slices.Sorted(maps.Keys(s.documents)) {
		if first = s.documents[path].leftOut; first != (graph.Kind{}) {
			break
		}
	}
	if first != s.leftOut && first != (graph.Kind{}) {
		s.log.Info("The schemas of some kinds are not read for references", "first", first.Kind, "group", first.Group,
			"reason", fmt.Sprintf("more than %d %s", boundSchemaRules.Limit(), boundSchemaRules.What()))
	}
	s.leftOut = first
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
