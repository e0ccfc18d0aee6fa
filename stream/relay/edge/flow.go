package edge

import (
	"fmt"
	"slices"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/relay/wire"
)

const (
	// keptBytes and keptDeliveries bound what is kept of a flow for those of its
	// subscribers who are behind the first; relayBytes is the same for all flows of a relay.
	// Who is further behind has a flow of its own, of which one delivery is kept.
	keptBytes      = 1 << 20
	keptDeliveries = 64
	relayBytes     = 8 << 20
)

// flow is a channel of a relay: what the holder delivers there is for all members, who
// are subscribers of the same rights. It delivers when the first of them has had
// everything. Relay.mu guards it.
type flow struct {
	relay   *Relay
	number  uint64
	opening wire.Opening
	// told is what the holder knows of the members' rights, and digest is its digest.
	// No answer ever changes.
	told    delivery.Rights
	digest  string
	members map[*Channel]struct{}

	// deliveries are those that some member has not had, after the first had ones.
	had        uint64
	deliveries []*sent
	coming     *sent // is not whole yet; nil: none is
	credit     bool  // the holder was asked for a delivery, and has not sent all of it
	asked      []access.Place
	found      *wire.Finding
	err        error // why it is over

	// origin is the flow's key in relay.begun, where others may begin with it.
	origin origin
}

// origin is where a flow begins: those of one origin and digest are sent the same.
type origin struct {
	digest, since string
	wanted        wire.Wanted
	of, step      uint64
	continues     bool
}

// sent is one delivery, with how many have yet to take it.
type sent struct {
	frames  []*delivery.Frame
	bytes   int
	owner   budget.Owner // of what is unread; zero: no share
	waiting int
}

// flowLocked returns the flow to begin with for an opening under rights: one whose
// members began alike, and of which nothing is gone, or else a new one.
func (r *Relay) flowLocked(o wire.Opening, rights delivery.Rights) *flow {
	from := originOf(&o, rights)
	if f := r.begun[from]; f != nil {
		return f
	}
	r.last++
	f := &flow{relay: r, number: r.last, opening: o, told: rights, digest: rights.Digest(), members: make(map[*Channel]struct{}), err: r.err}
	if r.err != nil {
		return f
	}
	base := r.flows[o.Of]
	if base == nil {
		if base = r.told[f.digest]; base != nil {
			o.Of = base.number
		}
	}
	o.Answers = wire.Answers{Of: o.Of, Digest: f.digest, Places: more(base, rights)}
	r.flows[f.number], r.told[f.digest] = f, f
	if o.Narrow == nil && o.Key == nil {
		f.origin, r.begun[from] = from, f
	}
	r.sayLocked(wire.AppendControl(nil, wire.Open, f.number, o))
	return f
}

func originOf(o *wire.Opening, rights delivery.Rights) origin {
	if o.Narrow != nil || o.Key != nil {
		return origin{} // of no flow
	}
	return origin{digest: rights.Digest(), since: o.Since, wanted: o.Wanted, of: o.Of, step: o.Step, continues: o.Continue}
}

// more are the answers that the holder was not told for a flow, which may be nil.
func more(told *flow, rights delivery.Rights) []wire.Place {
	recalled, ok := rights.(delivery.Recalled)
	if !ok {
		return nil
	}
	var places []wire.Place
	for _, p := range recalled.Places() {
		if told != nil {
			if _, known := told.told.Allowed(p); known {
				continue
			}
		}
		place := wire.PlaceOf(p)
		place.Allowed, _ = rights.Allowed(p)
		places = append(places, place)
	}
	return places
}

// addLocked makes a subscriber a member that has had so many deliveries.
func (f *flow) addLocked(c *Channel, had uint64) {
	f.count(-1)
	defer f.count(1)
	f.members[c] = struct{}{}
	c.flow, c.had, c.asked = f, had, slices.Clone(f.asked)
	for _, s := range f.deliveries[had-f.had:] {
		s.waiting++
	}
	c.wake()
}

// removeLocked is the reverse. A flow without members is closed.
func (f *flow) removeLocked(c *Channel) {
	f.count(-1)
	defer f.count(1)
	delete(f.members, c)
	for _, s := range f.deliveries[c.had-f.had:] {
		f.relay.hadLocked(s)
	}
	f.trimLocked()
	if len(f.members) == 0 {
		f.closeLocked()
	}
}

// count tells the client how many subscribers share the flow.
func (f *flow) count(n int64) {
	switch {
	case len(f.members) > 1:
		f.relay.client.shared.Add(n)
	case len(f.members) == 1:
		f.relay.client.own.Add(n)
	}
}

func (f *flow) closeLocked() {
	r := f.relay
	f.forgetComingLocked()
	f.hideLocked()
	if r.told[f.digest] == f {
		delete(r.told, f.digest)
	}
	if r.flows[f.number] == f {
		delete(r.flows, f.number)
		r.sayLocked(wire.AppendControl(nil, wire.Close, f.number, nil))
	}
}

// hideLocked has nobody begin with the flow any more.
func (f *flow) hideLocked() {
	if f.relay.begun[f.origin] == f {
		delete(f.relay.begun, f.origin)
	}
}

// dropLocked forgets what members have not taken.
func (f *flow) dropLocked() {
	end := f.had + uint64(len(f.deliveries))
	for c := range f.members {
		for _, s := range f.deliveries[c.had-f.had:] {
			f.relay.hadLocked(s)
		}
		c.had = end
	}
	f.trimLocked()
	f.forgetComingLocked()
}

func (f *flow) forgetComingLocked() {
	if f.coming != nil {
		f.relay.client.unread.give(f.coming.owner, f.coming.bytes)
		f.coming = nil
	}
}

// trimLocked forgets what all members have had.
func (f *flow) trimLocked() {
	for len(f.deliveries) > 0 && f.deliveries[0].waiting == 0 {
		f.deliveries[0] = nil
		f.deliveries = f.deliveries[1:]
		f.had++
	}
	if f.had > 0 {
		f.hideLocked()
	}
}

// hadLocked notes that one more subscriber has no need of a delivery.
func (r *Relay) hadLocked(s *sent) {
	if s.waiting--; s.waiting == 0 {
		r.kept -= s.bytes
		r.client.unread.give(s.owner, s.bytes)
	}
}

func (f *flow) bytes() (n int) {
	for _, s := range f.deliveries {
		n += s.bytes
	}
	return n
}

// askLocked asks the holder for one more delivery, unless it has been asked.
func (f *flow) askLocked() {
	if f.credit || f.opening.Key != nil {
		return
	}
	f.credit = true
	f.relay.sayLocked(wire.AppendNumber(nil, wire.More, f.number, f.had))
}

// tellLocked tells the holder of answers that it does not know yet.
func (f *flow) tellLocked(rights delivery.Rights) {
	told := wire.Answers{Digest: rights.Digest(), Places: more(f, rights)}
	if f.relay.told[f.digest] == f {
		delete(f.relay.told, f.digest)
	}
	f.hideLocked()
	f.told, f.digest = rights, told.Digest
	f.asked = slices.DeleteFunc(f.asked, func(p access.Place) bool {
		_, known := rights.Allowed(p)
		return known
	})
	if f.err == nil {
		f.relay.told[f.digest] = f
		f.relay.sayLocked(wire.AppendControl(nil, wire.Tell, f.number, told))
	}
}

// forkLocked gives a member, whose rights may know more than the flow's by now, a flow
// that begins where the member is.
func (f *flow) forkLocked(c *Channel, rights delivery.Rights) {
	next := f.relay.flowLocked(f.after(c.had), rights)
	f.removeLocked(c)
	next.addLocked(c, 0)
}

// after is an opening that continues after one of the flow's deliveries.
func (f *flow) after(had uint64) wire.Opening {
	return wire.Opening{Answers: wire.Answers{Of: f.number}, Continue: true, Step: had, Wanted: f.opening.Wanted}
}

// takeLocked takes one message of the holder's that is no frame. The error is that it is
// none.
func (f *flow) takeLocked(m wire.Message) error {
	switch m.Type {
	case wire.Ask:
		var places []wire.Place
		if err := wire.Parse(m, &places); err != nil {
			return err
		}
		for _, p := range places {
			f.asked = append(f.asked, p.Of())
			for c := range f.members {
				c.asked = append(c.asked, p.Of())
			}
		}
	case wire.Join:
		number, err := wire.ParseNumber(m)
		if err != nil {
			return err
		}
		f.joinLocked(f.relay.flows[number])
		return nil
	case wire.Found:
		f.found = &wire.Finding{}
		if err := wire.Parse(m, f.found); err != nil {
			return err
		}
	case wire.End:
		var ending wire.Ending
		if err := wire.Parse(m, &ending); err != nil {
			return err
		}
		f.endLocked(ended(ending.Err()))
	default:
		return fmt.Errorf("a holder does not send messages of type %q", m.Type)
	}
	f.wakeLocked()
	return nil
}

// receiveLocked takes one frame.
func (f *flow) receiveLocked(parsed wire.Sent, size int) {
	r := f.relay
	if f.err != nil {
		return
	}
	if f.coming == nil {
		f.coming = &sent{owner: f.owner()}
	}
	s := f.coming
	if err := r.client.unread.take(s.owner, f.bytes()+s.bytes, size); err != nil {
		f.dropLocked()
		// A smaller view would not help: it is the reader who is behind.
		f.endLocked(&delivery.ClosedError{Reason: reason.TooManyRequests, Message: err.Error() + "; read faster, or end some streams"})
		f.wakeLocked()
		return
	}
	s.frames, s.bytes = append(s.frames, parsed.Frame), s.bytes+size
	if !parsed.Last {
		return
	}
	f.coming, f.credit = nil, false
	s.waiting = len(f.members)
	r.kept += s.bytes
	f.deliveries = append(f.deliveries, s)
	f.wakeLocked()
	f.boundLocked()
}

// owner is that of the only member.
func (f *flow) owner() budget.Owner {
	if len(f.members) == 1 {
		for c := range f.members {
			return c.owner
		}
	}
	return budget.Owner{}
}

// boundLocked gives members that are far behind the first a flow of their own.
func (f *flow) boundLocked() {
	for len(f.members) > 1 && len(f.deliveries) > 1 &&
		(len(f.deliveries) > keptDeliveries || f.bytes() > keptBytes || f.relay.kept > relayBytes) {
		behind := f.had
		for c := range f.members {
			if c.had == behind {
				f.forkLocked(c, f.told)
			}
		}
	}
}

// joinLocked takes it that the flow has come to where another one is, which is nil
// where it was closed meanwhile. Members that have not had everything continue from
// where they are, unless there is just one delivery that they have to take yet.
func (f *flow) joinLocked(other *flow) {
	switch {
	case other == f, f.err != nil: // what the members have not had may be gone
		return
	case other == nil, other.err != nil, other.digest != f.digest, other.opening.Wanted != f.opening.Wanted:
		other = f.relay.flowLocked(f.after(f.had+uint64(len(f.deliveries))), f.told)
	}
	for c := range f.members {
		rest := f.deliveries[c.had-f.had:]
		if len(rest)+len(c.pending) > 1 {
			f.forkLocked(c, f.told)
			continue
		}
		for _, s := range rest {
			s.waiting++ // removeLocked does not know that it is taken later
			c.pending = append(c.pending, s)
		}
		f.removeLocked(c)
		other.addLocked(c, other.had+uint64(len(other.deliveries)))
	}
	if len(other.members) == 0 {
		other.closeLocked() // made here, for nobody
	}
}

func (f *flow) endLocked(err error) {
	if f.err == nil {
		f.err = err
		f.hideLocked()
	}
}

func (f *flow) wakeLocked() {
	for c := range f.members {
		c.wake()
	}
}
