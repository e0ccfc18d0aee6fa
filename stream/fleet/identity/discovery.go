package identity

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	// discoverWithin bounds one discovery, and discoveryBytes each of its answers.
	discoverWithin = 5 * time.Second
	discoveryBytes = 1 << 20
	// discoverEvery is the least time between two reads of the keys for tokens with an unknown key,
	// which strangers can send.
	discoverEvery = time.Minute
)

// discovery has the keys of an issuer.
type discovery struct {
	issuer string
	client *http.Client
	// turn guards the fields below: it has a token while no discovery runs.
	turn chan struct{}
	keys *jose.JSONWebKeySet
	at   time.Time // of the last attempt
	err  error     // of the last attempt
}

func newDiscovery(issuer, caBundle string) (*discovery, error) {
	u, err := url.Parse(issuer)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("issuer %q: keys are discovered at an https URL without user, query and fragment; set identity.jwks for another issuer", issuer)
	}
	secured := &tls.Config{MinVersion: tls.VersionTLS12}
	if caBundle != "" {
		secured.RootCAs = x509.NewCertPool()
		if !secured.RootCAs.AppendCertsFromPEM([]byte(caBundle)) {
			return nil, errors.New("caBundle: no certificate in PEM")
		}
	}
	d := &discovery{issuer: issuer, turn: make(chan struct{}, 1), client: &http.Client{
		Transport: &http.Transport{TLSClientConfig: secured, Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10},
		// The issuer is the URL of the link, not where a redirect leads.
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("the issuer redirects") },
	}}
	d.turn <- struct{}{}
	return d, nil
}

// find returns the issuer's keys, which are read if the one with the ID is not known. The
// error is an ErrDiscovery, or ctx's.
func (d *discovery) find(ctx context.Context, id string) (*jose.JSONWebKeySet, error) {
	select {
	case <-d.turn:
		defer func() { d.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if d.keys != nil && len(d.keys.Key(id)) > 0 {
		return d.keys, nil
	}
	if time.Since(d.at) >= discoverEvery {
		// Another caller may need the keys, so the attempt does not end with this one.
		keys, err := d.read(context.WithoutCancel(ctx))
		d.at, d.err = time.Now(), err
		if err == nil {
			d.keys = keys
		}
	}
	if d.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDiscovery, d.err)
	}
	return d.keys, nil
}

func (d *discovery) read(ctx context.Context) (*jose.JSONWebKeySet, error) {
	ctx, cancel := context.WithTimeout(ctx, discoverWithin)
	defer cancel()
	text, err := d.get(ctx, strings.TrimSuffix(d.issuer, "/")+"/.well-known/openid-configuration")
	if err != nil {
		return nil, err
	}
	var document struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("OpenID configuration: %w", err)
	}
	keys, err := url.Parse(document.Keys)
	if err != nil || document.Issuer != d.issuer || keys.Scheme != "https" {
		return nil, fmt.Errorf("OpenID configuration: the issuer is %q with the keys at %q", document.Issuer, document.Keys)
	}
	if text, err = d.get(ctx, document.Keys); err != nil {
		return nil, err
	}
	return parseKeys(text)
}

func (d *discovery) get(ctx context.Context, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := d.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("get %s: %s", address, response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, discoveryBytes+1))
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", address, err)
	}
	if len(text) > discoveryBytes {
		return nil, fmt.Errorf("get %s: more than %d bytes", address, discoveryBytes)
	}
	return text, nil
}
