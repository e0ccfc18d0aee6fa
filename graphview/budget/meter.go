package budget

// Meter counts the parts of a Bound that one piece of work takes.
type Meter struct {
	bound *Bound
	left  int64
	err   *Exceeded
}

// Meter returns a Meter for a new piece of work.
func (b *Bound) Meter() *Meter { return &Meter{bound: b, left: b.limit} }

// Take counts n more. The caller calls it before it allocates. The error is an *[Exceeded]. After
// the first error, each call returns that error.
func (m *Meter) Take(n int) error {
	switch {
	case m.err != nil:
		return m.err
	case n < 0 || int64(n) > m.left:
		m.left, m.err = 0, m.bound.Exceed()
		return m.err
	}
	m.left -= int64(n)
	return nil
}

// Err returns the first error of Take, nil if there was none.
func (m *Meter) Err() error {
	if m.err == nil {
		return nil
	}
	return m.err
}
