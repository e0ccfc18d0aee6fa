package budget

// Meter counts what one piece of work makes.
type Meter struct {
	bound *Bound
	left  int64
	err   *Exceeded
}

// Meter begins a piece of work that may make as much as the bound allows.
func (b *Bound) Meter() *Meter { return &Meter{bound: b, left: b.limit} }

// Take asks for n more before they are made. The error is an *[Exceeded], and the
// same one for all that is asked after it.
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

// Left is how much may still be taken.
func (m *Meter) Left() int64 { return m.left }

// Err is the *[Exceeded] of the first Take that was refused, nil before.
func (m *Meter) Err() error {
	if m.err == nil {
		return nil
	}
	return m.err
}
