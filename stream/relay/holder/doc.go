// Package holder serves the views that this replica holds to other replicas, the edges, on
// the relay port.
//
// The package acquires a view from [Views] and cannot dial or list replicas, so a relay
// has one hop, however much two replicas disagree about placement.
//
// A holder does not learn the subscriber's identity. The edge sends answers about places
// that the subscriber may see, and the holder sends only objects that these allow.
//
// # Concurrency
//
// The goroutine of a request reads the edge's messages. Each channel has a goroutine that
// queues frames, and one goroutine of the relay writes them: no lock is held while it
// writes. The request joins all of them.
package holder
