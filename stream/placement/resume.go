package placement

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/relay/edge"
)

// steady is the age from which a relay that breaks is opened again at the same replica. A
// relay that breaks earlier makes its replica suspect, so that no replica is dialled in a
// tight loop.
const steady = time.Second

// ended takes the end of a relay, and reports whether it may be continued at the same
// replica: a broken connection says nothing about the replica behind it. If that cannot be
// reached either, reach suspects it.
func (t *Table) ended(relay *edge.Relay, why error) (resumable bool) {
	for _, final := range []error{edge.ErrMoved, edge.ErrAbsent, edge.ErrStopping} {
		if errors.Is(why, final) {
			t.suspect(relay.Member(), why)
			return false
		}
	}
	if time.Since(relay.Opened()) < steady {
		t.suspect(relay.Member(), why)
		return false
	}
	return true
}

// received is what a subscriber has been sent by a relay: enough to continue after a broken
// connection without a reset. It belongs to one goroutine.
type received struct {
	// rev is the revision of the last complete graph; empty for none.
	rev string
	// synced: the subscriber was told that its graph is complete, which is said once.
	synced bool
	// warned are the warnings that the subscriber has.
	warned map[delivery.WarningID]struct{}
	// unconfirmed are those of warned that the holder has not sent since the relay was opened
	// again; nil if it was not.
	unconfirmed map[delivery.WarningID]struct{}
}

// resume returns the revision to continue from. A holder sends all current warnings to a
// subscriber that resumes, but does not clear the warnings that ended in between.
func (r *received) resume() string {
	r.unconfirmed = maps.Clone(r.warned)
	return r.rev
}

// note records frames, and returns them as a subscriber that continues has to get them:
// warnings that have gone while the connection was broken are cleared, and the graph is said
// to be complete once.
func (r *received) note(frames []*delivery.Frame) ([]*delivery.Frame, error) {
	for i := 0; i < len(frames); i++ {
		f := frames[i]
		if f.Reset {
			*r = received{}
		}
		if err := r.noteWarnings(f); err != nil {
			return nil, err
		}
		if f.Synced && r.synced {
			frames[i] = f.WithoutSynced()
		}
		r.synced = r.synced || f.Synced
		if f.Rev == "" {
			continue
		}
		r.rev = f.Rev
		if len(r.unconfirmed) > 0 {
			gone := slices.Collect(maps.Keys(r.unconfirmed))
			frames = slices.Insert(frames, i+1, delivery.ClearedFrames(gone)...)
		}
		r.unconfirmed = nil
	}
	return frames, nil
}

func (r *received) noteWarnings(f *delivery.Frame) error {
	cleared, err := idsOf(f.Cleared)
	if err != nil {
		return err
	}
	for _, id := range cleared {
		delete(r.warned, id)
		delete(r.unconfirmed, id)
	}
	set, err := idsOf(f.Warnings)
	if err != nil {
		return err
	}
	for _, id := range set {
		if r.warned == nil {
			r.warned = make(map[delivery.WarningID]struct{})
		}
		r.warned[id] = struct{}{}
		delete(r.unconfirmed, id)
	}
	return nil
}

// idsOf reads the elements of a list of warnings.
func idsOf(elements []byte) ([]delivery.WarningID, error) {
	if len(elements) == 0 {
		return nil, nil
	}
	var list []delivery.Warning
	if err := json.Unmarshal(slices.Concat([]byte("["), elements, []byte("]")), &list); err != nil {
		return nil, fmt.Errorf("warnings of another replica: %w", err)
	}
	ids := make([]delivery.WarningID, len(list))
	for i := range list {
		ids[i] = list[i].ID()
	}
	return ids, nil
}
