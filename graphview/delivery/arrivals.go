package delivery

import "time"

// maxArrivals bounds the revisions of a view whose arrival is remembered.
const maxArrivals = 64

// Arrived records when the first event of revision head was received. The graph's writer calls it,
// in order.
func (p *Publisher) Arrived(head uint64, at time.Time) {
	p.arrivalsMu.Lock()
	defer p.arrivalsMu.Unlock()
	if len(p.arrivals) == maxArrivals {
		p.arrivals = append(p.arrivals[:0], p.arrivals[maxArrivals/2:]...)
	}
	p.arrivals = append(p.arrivals, arrival{head, at})
}

// arrival is when the first event of a revision was received.
type arrival struct {
	head uint64
	at   time.Time
}

// arrivedAfter returns when the oldest change after a revision was received, or the oldest that is
// remembered.
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
