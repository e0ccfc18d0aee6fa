package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/test/fixture"
)

const (
	// Of one pause, and of what is between two: etcd gets on in between, but
	// never for long.
	shortestPause, longestPause     = 200 * time.Millisecond, 3 * time.Second
	shortestRespite, longestRespite = 50 * time.Millisecond, time.Second
	// answersWithin bounds how long etcd may take to be itself again.
	answersWithin = 30 * time.Second
)

// etcdIsSlow: etcd is paused again and again, so that the API server answers late or with
// errors, and its watches are silent. It is an outage, because it affects all clients. The
// pauses end with the episode, and etcd ends with this process.
func etcdIsSlow(s *scene, r *rand.Rand) trouble {
	seed := r.Uint64()
	var end context.CancelFunc
	var pauses sync.WaitGroup
	var broken error
	return trouble{
		name: "etcd slow", outage: true, lasts: longestPause + longestRespite,
		begin: func(ctx context.Context) error {
			ctx, end = context.WithCancel(ctx)
			pauses.Go(func() { broken = s.pauseEtcd(ctx, rand.New(rand.NewPCG(seed, 4))) })
			return nil
		},
		heal: func(ctx context.Context) error {
			end()
			pauses.Wait()
			why := fixture.Wait(ctx, answersWithin, pollInterval, func() string {
				// A get asks etcd itself.
				if err := s.client.Get(ctx, client.ObjectKey{Name: "default"}, &corev1.Namespace{}); err != nil {
					return err.Error()
				}
				return ""
			})
			if why != "" {
				return errors.Join(broken, fmt.Errorf("etcd, when nobody pauses it: %s", why))
			}
			return broken
		},
	}
}

// pauseEtcd lets etcd stand still for a while, and again, until ctx ends.
func (s *scene) pauseEtcd(ctx context.Context, r *rand.Rand) error {
	between := func(low, high time.Duration) time.Duration { return low + time.Duration(r.Int64N(int64(high-low))) }
	for ctx.Err() == nil {
		// A pause that has begun is one, and ended below.
		if err := plane.PauseEtcd(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		s.etcdPauses.Add(1)
		pause(ctx, between(shortestPause, longestPause))
		if err := plane.ResumeEtcd(); err != nil {
			return err
		}
		pause(ctx, between(shortestRespite, longestRespite))
	}
	return nil
}
