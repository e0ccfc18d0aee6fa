package delivery

// Step is where a subscription is in its view. Subscriptions of one view that are at
// equal steps are sent the same from there on. A Step is comparable, and small.
type Step struct {
	digest string // of the viewer that the state is of
	state  state
	ends   *Interruption
}

// Step is where the subscription is after what Poll has returned. It is false where no
// other subscription can be: before it is known where this one begins, and where it
// shows a part of the graph.
func (s *Subscription) Step() (Step, bool) {
	if !s.begun || s.narrow != nil {
		return Step{}, false
	}
	return Step{s.digest, s.state, s.ends}, true
}
