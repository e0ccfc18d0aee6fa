package stream

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/transport"
)

// metrics measure the cost of subscribers. None has a label with the name of a view or user.
type metrics struct {
	reviews     *prometheus.CounterVec
	interval    prometheus.Histogram
	unchecked   prometheus.Gauge
	subscribers *prometheus.GaugeVec
	messages    *prometheus.CounterVec
	bytes       *prometheus.CounterVec
	ended       *prometheus.CounterVec
	refused     *prometheus.CounterVec
	channels    *prometheus.CounterVec // refused ones
	panics      prometheus.Counter
	latency     prometheus.Histogram
}

// The names of transports in metrics.
const (
	socketTransport  = "websocket"
	eventsTransport  = "sse"
	linesTransport   = "lines"
	muxTransport     = "mux"
	clusterTransport = "cluster"
)

var transports = []string{socketTransport, eventsTransport, linesTransport, muxTransport}

// gone is the code in metrics of a stream whose peer left or was cut.
const gone = "gone"

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "graphview_" + name, Help: help}, labels)
	}
	m := &metrics{
		reviews: counter("subject_access_reviews_total",
			"SubjectAccessReviews made to decide what subscribers may see, by result: allowed, denied or error.", "result"),
		interval: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "graphview_permission_recheck_interval_seconds",
			Help: "Time between two checks of one identity's permissions. A time longer than --permission-recheck means overload.",
			// From a second, doubled, to about an hour: --permission-recheck is a minute.
			Buckets: prometheus.ExponentialBuckets(1, 2, 13),
		}),
		unchecked: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "graphview_unchecked_subscribers",
			Help: "Subscribers whose permissions are not checked again. A value above 0 is a bug: report it.",
		}),
		subscribers: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "graphview_subscribers",
			Help: "Open streams of graphs, by transport: websocket, sse, lines, or mux for each channel of a connection for many graphs.",
		}, []string{"transport"}),
		messages: counter("messages_sent_total", "Messages sent to subscribers, by transport.", "transport"),
		bytes:    counter("sent_bytes_total", "Bytes of the messages sent to subscribers, by transport, before framing, compression and TLS.", "transport"),
		ended:    counter("streams_ended_total", "Streams that ended, by the close code that the subscriber was sent; gone means that the subscriber had left before.", "code"),
		refused:  counter("refused_requests_total", "Requests that were refused with a Status, by HTTP code.", "code"),
		channels: counter("refused_channels_total", "Subscriptions that were refused on connections for many graphs, by the code of the error.", "code"),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "graphview_handler_panics_total",
			Help: "Requests and streams that ended because their handler panicked. The log says where.",
		}),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "graphview_event_to_send_seconds",
			Help: "Time from the arrival of an event to the end of sending the change that it caused, for each subscriber. It is long for slow readers.",
			// From a quarter of a millisecond, doubled, to eight seconds.
			Buckets: prometheus.ExponentialBuckets(0.00025, 2, 16),
		}),
	}
	// Series that exist from the start can be summed and compared with 0.
	for _, result := range []string{"allowed", "denied", "error"} {
		m.reviews.WithLabelValues(result)
	}
	for _, transport := range transports {
		m.subscribers.WithLabelValues(transport)
		m.messages.WithLabelValues(transport)
		m.bytes.WithLabelValues(transport)
	}
	for _, code := range []string{"1000", "1001", "1007", "1008", "1011", "1013", gone} {
		m.ended.WithLabelValues(code)
	}
	for _, code := range []string{"1007", "1008", "1011", "1013"} {
		m.channels.WithLabelValues(code)
	}
	for _, code := range []string{"401", "403", "404", "429", "503"} {
		m.refused.WithLabelValues(code)
	}
	if registerer == nil {
		return m, nil
	}
	for _, collector := range []prometheus.Collector{
		m.reviews, m.interval, m.unchecked, m.subscribers, m.messages, m.bytes, m.ended, m.refused, m.channels, m.panics, m.latency,
	} {
		if err := registerer.Register(collector); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) reviewed(allowed bool, err error) {
	m.reviews.WithLabelValues(access.Result(allowed, err)).Inc()
}

func (m *metrics) rechecked(after time.Duration) { m.interval.Observe(after.Seconds()) }

// refusal counts a request that was answered with a Status.
func (m *metrics) refusal(code int) { m.refused.WithLabelValues(strconv.Itoa(code)).Inc() }

// refusedChannel counts a subscription that was answered with an error.
func (m *metrics) refusedChannel(code reason.Code) {
	m.channels.WithLabelValues(strconv.Itoa(int(code))).Inc()
}

// sent counts one message of a transport that was written.
func (m *metrics) sent(transport string, frame *delivery.Frame) {
	m.messages.WithLabelValues(transport).Inc()
	m.bytes.WithLabelValues(transport).Add(float64(len(frame.JSON)))
	if !frame.Received.IsZero() {
		m.latency.Observe(time.Since(frame.Received).Seconds())
	}
}

// count returns a transport that counts messages, and is an open stream until it is closed.
func (m *metrics) count(t transport.Transport) transport.Transport {
	name := socketTransport
	switch t.(type) {
	case transport.Events:
		name = eventsTransport
	case transport.Lines:
		name = linesTransport
	}
	c := &counted{Transport: t, metrics: m, name: name}
	c.metrics.subscribers.WithLabelValues(name).Inc()
	return c
}

// counted is a transport whose messages are counted.
type counted struct {
	transport.Transport
	metrics *metrics
	name    string
}

func (c *counted) WriteFrame(ctx context.Context, frame *delivery.Frame) error {
	if err := c.Transport.WriteFrame(ctx, frame); err != nil {
		return err
	}
	c.metrics.sent(c.name, frame)
	return nil
}

func (c *counted) Close(code reason.Code, text string) {
	c.over(strconv.Itoa(int(code)))
	c.Transport.Close(code, text)
}

func (c *counted) Abort() {
	c.over(gone)
	c.Transport.Abort()
}

func (c *counted) over(code string) {
	c.metrics.subscribers.WithLabelValues(c.name).Dec()
	c.metrics.streamEnded(code)
}

func (m *metrics) streamEnded(code string) { m.ended.WithLabelValues(code).Inc() }
