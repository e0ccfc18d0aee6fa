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
	// limitPause is the least after a server said that a limit is reached, or let us
	// in no more, and limitGrows how much longer than others such pauses may become.
	limitPause = 5 * time.Second
	limitGrows = 10
)

// backoff counts failures and says how long to wait after each.
type backoff struct {
	most     time.Duration
	failures int
	random   func() float64 // in [0,1); nil: that of math/rand
}

// pause returns between half and one and a half of a time that doubles with every failure, so
// that clients that were cut at the same time do not reconnect at the same time.
func (b *backoff) pause(err error) time.Duration {
	most, least := b.most, time.Duration(0)
	if most <= 0 {
		most = mostPause
	}
	pause := min(firstPause, most)
	if isLimit(err) || shutOut(err) {
		least, most = min(limitPause, most), most*limitGrows
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
		pause = max(pause, time.Duration(seconds)*time.Second)
	}
	return pause
}

// connected is called when a connection has brought a graph up to date. A server
// that fails right after that is not to be hurried.
func (b *backoff) connected() { b.failures = 0 }

// isLimit reports whether a server has reached a limit. A cluster that is not connected is none: the
// hub waits for it in the client's place before it says so.
func isLimit(err error) bool {
	closed, ok := errors.AsType[*CloseError](err)
	return ok && closed.Code == reason.CodeTryAgainLater && closed.Reason != reason.ClusterUnreachable
}
