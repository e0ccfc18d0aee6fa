package delivery

import "time"

// maxArrivals is how many revisions of a view it is remembered of when they came in.
const maxArrivals = 64

// Arrived notes when the first of the events came in that made the lens what it is
// at revision head. It is called by the graph's one writer, in order.
func (p *Publisher) Arrived(head uint64, at time.Time) {
	p.arrivalsMu.Lock()
	defer p.arrivalsMu.Unlock()
	if len(p.arrivals) == maxArrivals {
		p.arrivals = append(p.arrivals[:0], p.arrivals[maxArrivals/2:]...)
	}
	p.arrivals = append(p.arrivals, arrival{head, at})
}

// arrival is a revision, and when what it consists of came in.
type arrival struct {
	head uint64
	at   time.Time
}

// arrivedAfter is when the oldest change came in that a reader of a revision does
// not know, or the oldest that is remembered.
func (p *Publisher) arrivedAfter(known uint64) time.Time {
	p.arrivalsMu.Lock()
	defer p.arrivalsMu.Unlock()
	for _, a := range p.arrivals {
		if a.head > known {
			return a.at
		}
	}
	return time.Time{}
}
