package tunnel

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/go-logr/logr"
)

const (
	// maxTunnels is the largest number that one replica of a member keeps: one to each replica of
	// the hub.
	maxTunnels = 8
	// dialWithin bounds a handshake.
	dialWithin = 10 * time.Second
	// minPause and maxPause bound the pauses between attempts, with full jitter. They
	// are short enough for 1,000 members to connect again within 30 s although a load balancer leads a
	// third of the attempts to a replica of the hub that is down; see BenchmarkMembers.
	minPause = time.Second
	maxPause = 5 * time.Second
	// maxRefusedPause bounds the pauses while the hub refuses the member: an administrator who has
	// corrected the cause waits for the next attempt, which costs the hub the verification of a token.
	maxRefusedPause = 10 * time.Second
	// drainWithin is how long requests on a tunnel may last after its successor is open.
	drainWithin = 5 * time.Second
)

// ReplicasPath is the path of the hub's request that tells the number of its replicas in
// ReplicasHeader.
const ReplicasPath = "/tunnel/v1/replicas"

// Options of a Dialer. URL, TokenFile and Handler are required.
type Options struct {
	// URL is that of the link at the hub, such as wss://hub.example.com/tunnel/v1/clusters/eu-1.
	URL string
	// TokenFile has the token of this member, and CAFile the CAs of the hub in PEM; empty: those
	// of the system. Both are read for each tunnel, since both are rotated.
	TokenFile, CAFile string
	// Instance identifies the process of this replica, and Version is its version.
	Instance, Version string
	// MaxAge is the longest life of a tunnel; default 1 h.
	MaxAge time.Duration
	// Handler serves the hub's requests.
	Handler http.Handler
	Logger  logr.Logger
}

// Dialer keeps the tunnels of one replica of a member.
type Dialer struct {
	o       Options
	running sync.WaitGroup // the goroutines that keep and end tunnels
	windows Windows

	mu       sync.Mutex
	keeping  int // goroutines that keep a tunnel each
	replicas int // of the hub, as it said last
}

// NewDialer returns a Dialer that is idle before Run. The error is one of CAFile.
func NewDialer(o Options) (*Dialer, error) {
	if o.MaxAge == 0 {
		o.MaxAge = time.Hour
	}
	d := &Dialer{o: o}
	_, err := d.newClient()
	return d, err
}

// newClient returns the client of one handshake.
func (d *Dialer) newClient() (*http.Client, error) {
	secured := &tls.Config{MinVersion: tls.VersionTLS12}
	if d.o.CAFile != "" {
		text, err := os.ReadFile(d.o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("CAs of the hub: %w", err)
		}
		secured.RootCAs = x509.NewCertPool()
		if !secured.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("CAs of the hub: no certificate in %s", d.o.CAFile)
		}
	}
	return &http.Client{
		Transport: &http.Transport{TLSClientConfig: secured, Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
		// The token is for the hub alone.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// Run keeps the tunnels until ctx is done. It returns when they and their requests have ended.
func (d *Dialer) Run(ctx context.Context) error {
	d.follow(ctx, 1)
	d.running.Wait()
	return nil
}

// follow keeps a tunnel to each of the hub's replicas, whose number it is told.
func (d *Dialer) follow(ctx context.Context, replicas int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.replicas = max(1, min(replicas, maxTunnels))
	for ctx.Err() == nil && d.keeping < d.replicas {
		d.keeping++
		d.running.Go(func() { d.keep(ctx) })
	}
}

// surplus reports whether the caller has to stop, since the hub has fewer replicas.
func (d *Dialer) surplus() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.keeping <= d.replicas {
		return false
	}
	d.keeping--
	return true
}

// heed follows the number of replicas in a header of the hub.
func (d *Dialer) heed(ctx context.Context, header http.Header) {
	if n, err := strconv.Atoi(header.Get(ReplicasHeader)); err == nil {
		d.follow(ctx, n)
	}
}

// answerError is an answer to a handshake that opens no tunnel.
type answerError struct {
	code int
	text string
}

// Error implements error.
func (e *answerError) Error() string {
	return fmt.Sprintf("the hub answers %d %s: %s", e.code, http.StatusText(e.code), e.text)
}

// clash reports whether the member already has a tunnel to the replica that it reached.
func clash(err error) bool {
	answer, ok := errors.AsType[*answerError](err)
	return ok && answer.code == http.StatusConflict
}

// longestPause returns the longest pause after an attempt, or after a tunnel that has ended.
func longestPause(err error) time.Duration {
	if answer, ok := errors.AsType[*answerError](err); ok && answer.code < http.StatusInternalServerError && !clash(err) {
		return maxRefusedPause
	}
	return maxPause
}

// keep keeps one tunnel: it opens the next one before the last one ends.
func (d *Dialer) keep(ctx context.Context) {
	var last *tunnel
	replace := func(next *tunnel) {
		if ended := last; ended != nil {
			d.running.Go(func() { ended.end(ctx) })
		}
		last = next
	}
	defer replace(nil)
	pause, logged := minPause, ""
	for ctx.Err() == nil {
		next, err := d.dial(ctx, last)
		if err == nil {
			replace(next)
			pause, logged = minPause, ""
			next.wait(ctx)
		}
		if last != nil && last.over() {
			replace(nil)
		}
		if last == nil && d.surplus() {
			return
		}
		switch {
		case err == nil && last != nil:
			continue // the successor is due
		case err != nil && !clash(err) && err.Error() != logged && ctx.Err() == nil:
			logged = err.Error()
			d.o.Logger.Info("Cannot open a tunnel to the hub; trying again", "hub", d.o.URL, "cause", logged)
		}
		pause = min(pause, longestPause(err))
		sleep(ctx, rand.N(pause))
		pause *= 2
	}
}

func sleep(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// dial opens a tunnel and serves it.
func (d *Dialer) dial(ctx context.Context, last *tunnel) (*tunnel, error) {
	token, err := os.ReadFile(d.o.TokenFile)
	if err != nil {
		return nil, fmt.Errorf("token for the hub: %w", err)
	}
	header := http.Header{}
	header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	header.Set(InstanceHeader, d.o.Instance)
	header.Set(VersionHeader, d.o.Version)
	if last != nil {
		header.Set(ReplacesHeader, last.id)
	}
	client, err := d.newClient()
	if err != nil {
		return nil, err
	}
	dialing, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	//nolint:bodyclose // the library closes it, or has read it
	socket, response, err := websocket.Dial(dialing, d.o.URL, &websocket.DialOptions{HTTPClient: client, HTTPHeader: header, CompressionMode: websocket.CompressionDisabled})
	if response != nil {
		d.heed(ctx, response.Header)
	}
	switch {
	case err == nil:
	case response != nil:
		text, _ := io.ReadAll(io.LimitReader(response.Body, 512))
		return nil, &answerError{response.StatusCode, strings.TrimSpace(string(text))}
	default:
		return nil, err
	}
	return d.serve(ctx, socket, response.Header)
}
