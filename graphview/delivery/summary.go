package delivery

import (
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/impact"
	"graphview.dev/graphview/jsontree"
	"graphview.dev/graphview/refs"
)

// appLabels are the labels that name the application of an object, in order of precedence.
var appLabels = [...]string{"app.kubernetes.io/part-of", "app.kubernetes.io/instance", "app.kubernetes.io/name", "app"}

// summaryShape selects the fields that a summary is made from, without those for its health.
var summaryShape = func() *jsontree.Shape {
	var shape jsontree.Shape
	shape.Join(impact.Shape)
	shape.Field("kind")
	metadata := shape.Field("metadata")
	metadata.Field("creationTimestamp")
	labels := metadata.Field("labels")
	for _, label := range appLabels {
		labels.Field(label)
	}
	metadata.Field("ownerReferences").Elements().Field("controller")
	spec := shape.Field("spec")
	spec.Field("template", "metadata", "labels").Whole()
	spec.Field("jobTemplate", "spec", "template", "metadata", "labels").Whole()
	return &shape
}()

// Judged is an object with the health that a user's rule returned for it.
type Judged struct {
	Object

	Health health.Health
}

// Summarize returns the summary of an object in a group, as the value of the member m of a vertex. Secrets have
// only metadata here, so their health is unknown unless they are being deleted or a rule determines it.
func Summarize(group string, o Object, root bool) ([]byte, error) {
	s, err := summarize(group, o)
	if err != nil {
		return nil, err
	}
	s.Root = root
	return jsonOf(&s), nil
}

func summarize(group string, o Object) (streamv1alpha1.Summary, error) {
	s := streamv1alpha1.Summary{UID: o.UID()}
	err := o.ReadJSON(func(json []byte) error {
		parts := jsontree.AcquireParts()
		defer parts.Release()
		part, err := parts.PartAndRead(json, summaryShape, health.Shape)
		if err == nil {
			readSummary(&s, group, o, part, parts)
			kind := graph.Kind{Group: group, Kind: s.Kind}
			if s.Remote, err = remotesOf(kind, json); err == nil {
				s.Selects, err = selectsOf(kind, json)
			}
		}
		return err //nolint:wrapcheck // ReadJSON wraps it
	})
	return s, err
}

func readSummary(s *streamv1alpha1.Summary, group string, o Object, part map[string]any, parts *jsontree.Parts) {
	s.Kind, _ = part["kind"].(string)
	metadata, _ := part["metadata"].(map[string]any)
	created, _ := metadata["creationTimestamp"].(string)
	if at, err := time.Parse(time.RFC3339, created); err == nil {
		s.Created = at.Unix()
	}
	labels, _ := metadata["labels"].(map[string]any)
	for _, label := range appLabels {
		if s.App, _ = labels[label].(string); s.App != "" {
			break
		}
	}
	s.Deletion = impact.FactsOf(group, part)
	spec, _ := part["spec"].(map[string]any)
	s.PodLabels = templateLabels(metadata, spec)
	if judged, ok := o.(*Judged); ok {
		setHealth(s, judged.Health)
	} else if h := health.OfParts(health.Kind{Group: group, Kind: s.Kind}, parts); o.HasContent() || h.State == health.Terminating {
		setHealth(s, h)
	}
}

// setHealth sets the health in a summary.
func setHealth(s *streamv1alpha1.Summary, h health.Health) {
	s.Health, s.Why, s.Ended, s.Since, s.Overdue = "", h.Reason, h.Ended, h.Since, h.Overdue
	if h.State != health.Unknown {
		s.Health = string(h.State)
	}
	if s.Ready = nil; h.Counted {
		s.Ready = &[2]int64{h.Ready, h.Wanted}
	}
}

// remotesOf returns the references of an object to other clusters.
func remotesOf(kind graph.Kind, json []byte) (all []streamv1alpha1.RemoteReference, err error) {
	shape := refs.RemoteShape(kind)
	if shape == nil {
		return nil, nil
	}
	part, err := jsontree.Part(json, shape)
	if err != nil {
		return nil, err //nolint:wrapcheck // ReadJSON wraps it
	}
	for _, r := range refs.Remotes(kind, part) {
		all = append(all, streamv1alpha1.RemoteReference{Cluster: r.Cluster, Group: r.To.Group, Kind: r.To.Kind, Namespace: r.Namespace, Name: r.Name})
	}
	return all, nil
}

// messageJSON leaves out members as encoding/json does. Unlike it, it writes <, > and & as they are.
var messageJSON = json.JoinOptions(jsonv1.OmitEmptyWithLegacySemantics(true), jsontext.AllowInvalidUTF8(true), json.Deterministic(true))

// jsonOf returns a part of a message. The messages of objects and references are encoded by hand.
func jsonOf(part any) []byte {
	text, _ := json.Marshal(part, messageJSON) // texts and numbers never fail
	return text
}

// summaries caches the summaries of a view's vertices while there are subscribers. Each summary is
// made once, and sent to a reader again only if it differs. The owner of the view pays for the cache. A
// summary that is long, or that the owner cannot pay, is not stored: it is made and sent with each
// change of its vertex.
type summaries struct {
	// hold sets the number of bytes that the summaries hold; see PublisherOptions.Hold.
	hold func(use budget.Use, bytes int64) error

	mu    sync.Mutex
	all   map[graph.NodeID]*summarized
	bytes int64 // that hold was last called with
	// dropped is the newest revision of a summary that is no longer stored, or never was. Readers may
	// have that summary.
	dropped uint64
}

type summarized struct {
	from   summarySource
	logged uint64 // newest revision of the vertex with this summary
	text   string
	// changed is the lowest revision at which a reader is sure to have this summary.
	changed uint64
}

const (
	// maxSummary is the length above which a summary is not stored. Most have some 200 bytes, but the
	// author of an object chooses how many finalizers it has.
	maxSummary = 1 << 10
	// summaryBytes is the memory of a stored summary without its text. TestSummaryBytes compares it with
	// the heap.
	summaryBytes = 112
)

// held returns the memory of a summary. The allocator rounds the length of the text up.
func (s *summarized) held() int64 { return summaryBytes + int64(len(s.text)+len(s.text)/16) }

// summarySource identifies the input of a summary. Equal sources make equal summaries.
type summarySource struct {
	object   uint64 // hash of the object
	sideHash uint64
	root     bool
}

// of returns the summary of a vertex, and reports whether a reader at revision known has it.
func (s *summaries) of(c *graph.Change, known uint64) (text string, has bool, err error) {
	now := summarized{from: summarySource{c.Hash, c.SideHash, c.Root}, logged: c.Logged}
	if text, changed, found := s.stored(&now, c.Node); found {
		return text, !c.Appeared && changed <= known, nil
	}
	if o, ok := c.Payload.(Object); ok {
		// Summarize is slow, so it runs without the lock: two goroutines may make the same summary.
		var made []byte
		made, err = Summarize(c.Vertex.Group, o, c.Root)
		now.text = string(made)
	}
	stored := s.store(c.Node, &now) // also if there is none
	return now.text, stored && !c.Appeared && now.changed <= known, err
}

// stored returns the stored summary if it has the same source as now. It then also records the revision
// of now if that is newer.
func (s *summaries) stored(now *summarized, id graph.NodeID) (text string, changed uint64, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.all[id]
	if before == nil || before.from != now.from {
		return "", 0, false
	}
	before.logged = max(before.logged, now.logged)
	return before.text, before.changed, true
}

// store keeps the summary that a reader gets, unless the summary of a newer version is stored. If the
// two differ, the reader must get the newer one later, even if it had the same summary before. It
// reports whether now.changed is known.
func (s *summaries) store(id graph.NodeID, now *summarized) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now.changed = max(now.logged, s.dropped+1)
	stored := s.all[id]
	same := stored != nil && stored.text == now.text
	switch {
	case stored != nil && stored.logged > now.logged:
		if !same {
			stored.changed = max(stored.changed, stored.logged)
		}
		return true
	case same:
		now.text, now.changed = stored.text, stored.changed
	}
	bytes := s.bytes + now.held()
	if stored != nil {
		bytes -= stored.held()
	}
	if len(now.text) > maxSummary || s.hold(budget.Summaries, bytes) != nil {
		s.forgetLocked(id)
		s.dropped = max(s.dropped, now.logged)
		return false
	}
	if s.all == nil {
		s.all = make(map[graph.NodeID]*summarized)
	}
	s.all[id], s.bytes = now, bytes
	return true
}

func (s *summaries) forget(id graph.NodeID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetLocked(id)
}

func (s *summaries) forgetLocked(id graph.NodeID) {
	stored := s.all[id]
	if stored == nil {
		return
	}
	s.dropped = max(s.dropped, stored.logged)
	delete(s.all, id)
	s.bytes -= stored.held()
	_ = s.hold(budget.Summaries, s.bytes) // a smaller number is not refused
}

// shrink drops all summaries if there are many more than vertices. Otherwise the summaries of vertices
// that are deleted while no subscriber reads would stay.
func (s *summaries) shrink(vertices int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) > 2*vertices+1024 {
		s.dropLocked()
	}
}

func (s *summaries) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropLocked()
}

func (s *summaries) dropLocked() {
	for _, each := range s.all {
		s.dropped = max(s.dropped, each.logged)
	}
	s.all, s.bytes = nil, 0
	_ = s.hold(budget.Summaries, 0)
}
