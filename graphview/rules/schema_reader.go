package rules

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/wait"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/refs/schema"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/schemas"
)

// schemaPause is the pause before a pass over schemas, so that one pass sees changes that come together.
// After a long pass the pause is schemaRest times as long as the pass.
const (
	schemaPause = time.Second
	schemaRest  = 4
)

// SchemaOptions configures a SchemaReader.
type SchemaOptions struct {
	Client *schemas.Client
	// Watched returns the resources whose schemas are read.
	Watched func() []resources.Resource
	// Discovery says when schemas may have changed.
	Discovery *resources.Discovery
	Logger    logr.Logger
}

// SchemaReader reads the schemas of watched kinds into a Set.
type SchemaReader struct {
	o     SchemaOptions
	rules *Set
	kick  chan struct{}

	// documents are the documents with wanted kinds, by their paths in the index.
	documents map[string]*schemaDocument
	served    *refs.Served // of the last pass
	// spent is the duration of the last pass, without the documents that failed.
	spent time.Duration
}

// NewSchemaReader returns a reader that makes no requests before Run.
func NewSchemaReader(rules *Set, o SchemaOptions) *SchemaReader {
	return &SchemaReader{o: o, rules: rules, kick: make(chan struct{}, 1), documents: make(map[string]*schemaDocument)}
}

// Kick requests a pass, because another resource is watched.
func (s *SchemaReader) Kick() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// Run reads schemas until ctx ends, whenever the watched resources or the schemas change. Without a
// schema, references are inferred from keys alone.
func (s *SchemaReader) Run(ctx context.Context) error {
	pause := schemaPause
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		looked := s.o.Discovery.NextDiscovery()
		timer.Reset(pause)
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		if err := s.pass(ctx, wantedKinds(s.o.Watched())); err != nil && ctx.Err() == nil {
			s.o.Logger.V(1).Info("Schemas cannot be read, references are inferred from keys alone", "reason", err.Error())
		}
		pause = max(schemaPause, schemaRest*s.spent)
		select {
		case <-ctx.Done():
			return nil
		case <-looked:
		case <-s.kick:
		}
	}
}

// wantedKinds returns the kinds whose schemas may add to the rules of the table, by the paths of their
// documents.
func wantedKinds(watched []resources.Resource) map[string]map[graph.Kind]bool {
	wanted := make(map[string]map[graph.Kind]bool)
	for _, r := range watched {
		if kind := (graph.Kind{Group: r.Group, Kind: r.Kind}); refs.IsOpen(kind) {
			path := schemas.Path(r.Group, r.Version)
			if wanted[path] == nil {
				wanted[path] = make(map[graph.Kind]bool)
			}
			wanted[path][kind] = true
		}
	}
	return wanted
}

// pass reads the documents that changed since the last pass. The rules of a document are
// in force before the next one is read, so that an extension server that hangs delays
// none of them.
func (s *SchemaReader) pass(ctx context.Context, wanted map[string]map[graph.Kind]bool) error {
	s.spent = 0
	if len(wanted) == 0 && len(s.documents) == 0 {
		return nil
	}
	began := time.Now()
	index, err := s.o.Client.Index(ctx)
	if err != nil {
		return err
	}
	s.spent = time.Since(began)
	served := s.rules.Current().Served()
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
	s.publish()
	for _, path := range s.inOrder(wanted) {
		d := s.documents[path]
		if index[path] == "" || d != nil && !d.due(index[path], wanted[path]) {
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
		s.publish()
	}
	return nil
}

// inOrder returns the wanted paths, those with the fewest failures first.
func (s *SchemaReader) inOrder(wanted map[string]map[graph.Kind]bool) []string {
	pause := func(path string) time.Duration {
		if d := s.documents[path]; d != nil {
			return d.backoff.Duration
		}
		return 0
	}
	return slices.SortedFunc(maps.Keys(wanted), func(a, b string) int { return cmp.Or(cmp.Compare(pause(a), pause(b)), strings.Compare(a, b)) })
}

func concerns(domains []string, kinds map[graph.Kind]bool) bool {
	for kind := range kinds {
		if slices.Contains(domains, refs.DomainOf(kind.Group)) {
			return true
		}
	}
	return false
}

// publish passes all readings to the Set. If several versions of a kind were read, the newest stable one
// counts.
func (s *SchemaReader) publish() {
	all := make(map[graph.Kind]*refs.Reading)
	for _, of := range slices.SortedFunc(maps.Keys(s.documents), func(a, b string) int {
		return cmp.Or(resources.CompareVersions(schemas.Version(a), schemas.Version(b)), strings.Compare(a, b))
	}) {
		maps.Copy(all, s.documents[of].readings)
	}
	s.rules.setReadings(all)
}

// schemaBackoff is the back-off of a document that cannot be read.
var schemaBackoff = wait.Backoff{Duration: 10 * time.Second, Factor: 2, Steps: math.MaxInt, Cap: time.Hour}

// schemaDocument is the document of one group and version.
type schemaDocument struct {
	address  string // of the last attempt
	kinds    map[graph.Kind]bool
	readings map[graph.Kind]*refs.Reading
	// faults are the errors of single schemas, as they were logged.
	faults map[graph.Kind]string
	// stale means that the served kinds of the domain changed after the document was read.
	stale bool
	// backoff is that of the failed attempts since the last success. A document whose address has not
	// changed is retried at retry, which is zero after a success.
	backoff wait.Backoff
	retry   time.Time
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
	case !d.retry.IsZero():
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
	err := s.o.Client.Read(ctx, address, func(kind graph.Kind) bool { return kinds[kind] }, func(kind graph.Kind, of *schema.Schema, err error) {
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
		if d.retry.IsZero() || d.address != address {
			level = 0
		}
	}
	s.o.Logger.V(level).Info("Schemas of a group cannot be read", "document", path, "reason", err.Error())
	d.address = address
	if d.retry.IsZero() {
		d.backoff = schemaBackoff
	}
	d.retry = time.Now().Add(d.backoff.Step())
}

// readSchema is Read of served, and returns a panic as an error.
func readSchema(served *refs.Served, kind graph.Kind, of *schema.Schema) (reading *refs.Reading, err error) {
	defer panics.Recover(&err)
	return served.Read(kind, of)
}
