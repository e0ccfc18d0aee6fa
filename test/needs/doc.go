// Package needs does what a platform engineer wanted of graphs when evaluating
// GraphView, step by step with the built plugin: what was hard, or answered wrongly,
// then. The GraphViews are those that `kubectl graphview new` writes. It has a control
// plane of its own, since the kinds of other tools would change what other tests see.
package needs
