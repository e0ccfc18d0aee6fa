package client

import (
	"errors"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"graphview.dev/api/reason"
)

const (
	firstPause = 500 * time.Millisecond
	// mostPause is the default of Options.MaxPause.
	mostPause = 30 * time.Second
	// limitPause is the least pause after a server reported that a limit is reached, or
	// refused the client, and limitGrows the factor by which such pauses may become longer than others.
	limitPause = 5 * time.Second
	limitGrows = 10
)

// backoff counts failures and returns the pause after each.
type backoff struct {
	most     time.Duration
	failures int
	random   func() float64 // in [0,1); nil: that of math/rand
}

// pause returns between half and one and a half of a time that doubles with every failure, so
// that clients that were cut at the same time do not reconnect at the same time.
func (b *backoff) pause(err error) time.Duration {
	most, least := b.usual(), time.Duration(0)
	pause := min(firstPause, most)
	if isLimit(err) || shutOut(err) {
		least, most = min(limitPause, most), b.longest()
	}
	for range b.failures {
		if pause >= most {
			break
		}
		pause *= 2
	}
	b.failures++
	random := b.random
	if random == nil {
		random = rand.Float64
	}
	pause = time.Duration(float64(max(min(pause, most), least)) * (0.5 + random()))
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		pause = max(pause, min(time.Duration(seconds)*time.Second, b.longest()))
	}
	return pause
}

// usual returns the bound of pauses that no limit makes longer, and longest that of the others, also if a server or a
// proxy asks for a longer one: a Retry-After may be of years.
func (b *backoff) usual() time.Duration {
	if b.most <= 0 {
		return mostPause
	}
	return b.most
}

func (b *backoff) longest() time.Duration { return b.usual() * limitGrows }

// connected is called when a connection has brought a graph up to date. The next failure
// has the first pause again.
func (b *backoff) connected() { b.failures = 0 }

// isLimit reports whether a server has reached a limit. A cluster that is not connected is no limit: the
// hub has waited for it in place of the client.
func isLimit(err error) bool {
	closed, ok := errors.AsType[*CloseError](err)
	return ok && closed.Code == reason.CodeTryAgainLater && closed.Reason != reason.ClusterUnreachable
}
