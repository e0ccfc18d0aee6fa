// Package metrics reads metrics in Prometheus' text format. It knows no single
// metric.
package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Families are metrics by their names.
type Families map[string]*dto.MetricFamily

// ErrNone says that there is no such series.
var ErrNone = errors.New("the metrics have no such series")

// Read reads the metrics at a URL.
func Read(ctx context.Context, client *http.Client, url string) (Families, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("metrics: %s: %s", url, response.Status)
	}
	return Parse(response.Body)
}

// Parse parses metrics.
func Parse(text io.Reader) (Families, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return families, nil
}

// Sum adds the counters and gauges of a name that have all of the labels, which are names and
// values in turn.
func (f Families) Sum(name string, labels ...string) (sum float64, err error) {
	found := false
	for _, series := range f[name].GetMetric() {
		if has(series, labels) {
			found = true
			sum += series.GetCounter().GetValue() + series.GetGauge().GetValue() + series.GetUntyped().GetValue()
		}
	}
	if !found {
		return 0, fmt.Errorf("%s %v: %w", name, labels, ErrNone)
	}
	return sum, nil
}

func has(series *dto.Metric, labels []string) bool {
	values := map[string]string{}
	for _, label := range series.GetLabel() {
		values[label.GetName()] = label.GetValue()
	}
	for i := 0; i < len(labels); i += 2 {
		if values[labels[i]] != labels[i+1] {
			return false
		}
	}
	return true
}

// Buckets returns the counts of a histogram by the upper bounds of its buckets. Each count includes those of
// the smaller buckets.
func (f Families) Buckets(name string) (map[float64]float64, error) {
	buckets := map[float64]float64{}
	for _, series := range f[name].GetMetric() {
		for _, bucket := range series.GetHistogram().GetBucket() {
			buckets[bucket.GetUpperBound()] += float64(bucket.GetCumulativeCount())
		}
	}
	if len(buckets) == 0 {
		return nil, fmt.Errorf("%s: %w", name, ErrNone)
	}
	return buckets, nil
}
