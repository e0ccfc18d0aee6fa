package stream

import (
	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
)

// known tells whether all views are known.
func (s *Server) known() bool {
	if s.options.Known == nil {
		return true
	}
	select {
	case <-s.options.Known:
		return true
	default:
		return false
	}
}

var (
	noSuchView = &delivery.ClosedError{Reason: reason.NotFound, Message: "not found"}
	notYetSeen = &delivery.ClosedError{
		Reason: reason.Unavailable, Message: "the server has just started and does not know all graphs yet; try again",
	}
)

// served finds a view that can be opened. The error says why there is none; see
// refusal and ungranted.
func (s *Server) served(name graphview.Name) (View, error) {
	// Asked first: a view that comes in between is then found.
	known := s.known()
	view, ok := s.options.Graphs.View(name)
	switch {
	case !ok && !known:
		return nil, notYetSeen
	case !ok:
		return nil, noSuchView
	}
	if err := view.Err(); err != nil {
		return nil, err
	}
	return view, nil
}
