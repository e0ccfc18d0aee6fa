package troubles

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"graphview.dev/test/network"
)

// trouble is one kind of trouble.
type trouble struct {
	name string
	// long has a duration that only -long has patience for.
	long bool
	// resets says that the only process that holds the view ends, and silent that nothing but unanswered
	// pings can tell.
	resets, silent bool
	// happen breaks something, and returns when it is whole again. An error is what a user was told wrongly.
	happen func(ctx context.Context, e *episode) error
}

// episode is a trouble that happens to a fleet.
type episode struct {
	*fleet

	random *rand.Rand
}

// troubled is the member to which trouble happens.
func (e *episode) troubled() *member { return e.members[0] }

// either is one of the hub's replicas.
func (e *episode) either() int { return e.random.IntN(2) }

// some is a duration between one half and all of a longest one.
func (e *episode) some(longest time.Duration) time.Duration {
	return longest/2 + time.Duration(e.random.Int64N(int64(longest/2)))
}

// troubles happen by turns, so that each of as many seeds in a row has another one.
var troubles = []trouble{
	{name: "hub replica killed", happen: func(ctx context.Context, e *episode) error {
		replica := e.replicas()[e.either()]
		replica.Kill()
		pause(ctx, e.some(4*time.Second))
		return replica.Restart()
	}},
	{name: "connections cut for 20 ms", happen: func(ctx context.Context, e *episode) error {
		return e.cut(ctx, 20*time.Millisecond)
	}},
	{name: "link suspended, resumed", happen: func(ctx context.Context, e *episode) error {
		return errors.Join(e.patchLink(ctx, `{"spec":{"suspend":true}}`), e.wait(ctx, e.some(4*time.Second)), e.patchLink(ctx, `{"spec":{"suspend":false}}`))
	}},
	{name: "requests wait for a member that comes", resets: true, happen: waiting},
	{name: "link deleted, made again", happen: remade},
	{name: "network away, connections stay", silent: true, happen: func(ctx context.Context, e *episode) error {
		return e.weather(ctx, network.Away, e.some(8*time.Second))
	}},
	{name: "two replicas of a member, one still", resets: true, silent: true, happen: twoReplicas},
	{name: "hub replica starts without its links", happen: unknownLinks},
	{name: "member cut off its API server", silent: true, happen: func(ctx context.Context, e *episode) error {
		return e.away(ctx, e.some(20*time.Second))
	}},
	{name: "both hub replicas killed", happen: func(_ context.Context, e *episode) error {
		for _, replica := range e.replicas() {
			replica.Kill()
		}
		return errors.Join(e.replicas()[0].Restart(), e.replicas()[1].Restart())
	}},
	{name: "hub replica still", silent: true, happen: func(ctx context.Context, e *episode) error {
		return freeze(e.replicas()[e.either()], func() error { return e.wait(ctx, e.some(8*time.Second)) })
	}},
	{name: "hub replicas restarted one by one", happen: rolling},
	{name: "member killed", resets: true, happen: func(_ context.Context, e *episode) error {
		e.troubled().Kill()
		return e.troubled().Restart()
	}},
	{name: "member stopped", resets: true, happen: func(ctx context.Context, e *episode) error {
		e.troubled().Stop(ctx)
		return e.troubled().Restart()
	}},
	{name: "member still", silent: true, happen: func(ctx context.Context, e *episode) error {
		return freeze(e.troubled().Operator, func() error { return e.wait(ctx, e.some(8*time.Second)) })
	}},
	{name: "connections cut for 5 s", happen: func(ctx context.Context, e *episode) error {
		return e.cut(ctx, 5*time.Second)
	}},
	{name: "hub to member held", silent: true, happen: func(ctx context.Context, e *episode) error {
		return e.weather(ctx, network.Weather{HeldBack: true}, e.some(8*time.Second))
	}},
	{name: "member to hub held", silent: true, happen: func(ctx context.Context, e *episode) error {
		return e.weather(ctx, network.Weather{HeldThere: true}, e.some(8*time.Second))
	}},
	{name: "tunnel of 1 MB/s and 50 ms", happen: func(ctx context.Context, e *episode) error {
		return e.weather(ctx, network.Weather{Latency: 50 * time.Millisecond, Rate: 1 << 20}, e.some(8*time.Second))
	}},
	{name: "member's API server still", silent: true, happen: func(ctx context.Context, e *episode) error {
		plane := e.troubled().plane
		return errors.Join(plane.PauseAPIServer(ctx), e.wait(ctx, e.some(8*time.Second)), plane.ResumeAPIServer())
	}},
	{name: "hub's API server still", happen: func(ctx context.Context, e *episode) error {
		return errors.Join(hubPlane.PauseAPIServer(ctx), e.wait(ctx, e.some(8*time.Second)), hubPlane.ResumeAPIServer())
	}},
	{name: "name and aliases of a link edited", happen: func(ctx context.Context, e *episode) error {
		return e.patchLink(ctx, fmt.Sprintf(`{"spec":{"displayName":"Europe %d","knownAs":[{"type":"argocd","name":"%d"}]}}`, e.random.IntN(100), e.random.IntN(100)))
	}},
	{name: "second link with the same identity", happen: twin},
	{name: "keys of a link rotated", happen: rotated},
	{name: "wrong keys of a link", happen: wrongKeys},
	{name: "600 streams of one user", happen: greedy},
	{name: "strangers' handshakes, and a cut", happen: strangers},
	{name: "member cut off its API server for 60 s", long: true, silent: true, happen: func(ctx context.Context, e *episode) error {
		return e.away(ctx, time.Minute)
	}},
	{name: "hub replica still for 30 s", long: true, silent: true, happen: func(ctx context.Context, e *episode) error {
		return freeze(e.replicas()[e.either()], func() error { return e.wait(ctx, 30*time.Second) })
	}},
	{name: "member still for 30 s", long: true, silent: true, happen: func(ctx context.Context, e *episode) error {
		return freeze(e.troubled().Operator, func() error { return e.wait(ctx, 30*time.Second) })
	}},
	{name: "connections cut for 60 s", long: true, happen: func(ctx context.Context, e *episode) error {
		return e.cut(ctx, time.Minute)
	}},
	{name: "network away for 60 s, connections stay", long: true, silent: true, happen: func(ctx context.Context, e *episode) error {
		return e.weather(ctx, network.Away, time.Minute)
	}},
	{name: "hub to member held for 40 s", long: true, silent: true, happen: func(ctx context.Context, e *episode) error {
		return e.weather(ctx, network.Weather{HeldBack: true}, 40*time.Second)
	}},
	{name: "member to hub held for 40 s", long: true, silent: true, happen: func(ctx context.Context, e *episode) error {
		return e.weather(ctx, network.Weather{HeldThere: true}, 40*time.Second)
	}},
	{name: "member's API server still for 60 s", long: true, silent: true, happen: func(ctx context.Context, e *episode) error {
		plane := e.troubled().plane
		return errors.Join(plane.PauseAPIServer(ctx), e.wait(ctx, time.Minute), plane.ResumeAPIServer())
	}},
}

// weather changes that of the tunnels for a while.
func (e *episode) weather(ctx context.Context, to network.Weather, d time.Duration) error {
	e.troubled().tunnel.Turn(to)
	pause(ctx, d)
	e.troubled().tunnel.Turn(network.Weather{})
	return ctx.Err()
}

// away holds what the member and its API server send each other for a while.
func (e *episode) away(ctx context.Context, d time.Duration) error {
	e.troubled().api.Turn(network.Away)
	pause(ctx, d)
	e.troubled().api.Turn(network.Weather{})
	return ctx.Err()
}

// cut ends the tunnels and holds those that are opened for a while.
func (e *episode) cut(ctx context.Context, d time.Duration) error {
	e.troubled().tunnel.Turn(network.Away)
	e.troubled().tunnel.Cut()
	pause(ctx, d)
	e.troubled().tunnel.Turn(network.Weather{})
	return ctx.Err()
}

func (e *episode) wait(ctx context.Context, d time.Duration) error {
	pause(ctx, d)
	return ctx.Err()
}

func rolling(ctx context.Context, e *episode) error {
	for _, replica := range e.replicas() {
		replica.Stop(ctx)
		if err := replica.Restart(); err != nil {
			return err
		}
		if why := e.connected(ctx, len(e.members)); why != "" {
			return errors.New(why)
		}
	}
	return nil
}
