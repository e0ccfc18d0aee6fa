package pki

import (
	"crypto/x509"
	"slices"
	"testing"
	"time"
)

var (
	certificateNames = []string{"graphview.graphview-system.svc", "localhost", "127.0.0.1", "::1"}
	epoch            = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

const day = 24 * time.Hour

func mustRing(t *testing.T, now time.Time) *ring {
	t.Helper()
	r, err := newRing(certificateNames, now)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustRotate(t *testing.T, r *ring, now time.Time, injected bool) *ring {
	t.Helper()
	out, err := r.rotate(certificateNames, now, injected)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// accepts returns an error unless a client that trusts the bundle accepts the certificate.
func accepts(bundle []byte, p *pair, now time.Time) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	_, err := p.serving.Leaf.Verify(x509.VerifyOptions{DNSName: certificateNames[0], Roots: roots, CurrentTime: now})
	return err
}

// TestRingNeverFails: through two years of rotations, clients and replicas that are one
// rotation behind can connect to current ones, and the reverse.
func TestRingNeverFails(t *testing.T) {
	held := mustRing(t, epoch)
	before, served := held, 1
	for now := epoch; now.Before(epoch.Add(2 * 365 * day)); now = now.Add(day) {
		turned := mustRotate(t, held, now, true)
		if turned != held {
			before, held = held, turned
			if held.serving != before.serving {
				served++
			}
		}
		for client, bundle := range map[string][]byte{"of this turn": held.bundle(), "of the last turn": before.bundle()} {
			for replica, p := range map[string]*pair{"of this turn": held.serving, "of the last turn": before.serving} {
				// A replica is not a rotation behind for a month.
				if p == before.serving && !p.usable(certificateNames, now) {
					continue
				}
				if err := accepts(bundle, p, now); err != nil {
					t.Fatalf("on day %d a client %s and a replica %s: %v", now.Sub(epoch)/day, client, replica, err)
				}
			}
		}
		if !held.serving.usable(certificateNames, now.Add(28*day)) {
			t.Fatalf("on day %d less than 28 days are left", now.Sub(epoch)/day)
		}
		if n := len(held.trusted); n > 3 {
			t.Fatalf("on day %d there are %d authorities", now.Sub(epoch)/day, n)
		}
	}
	if served != 13 {
		t.Errorf("%d certificates in 730 days, want one in 60", served)
	}
}

func TestRingRotates(t *testing.T) {
	first := mustRing(t, epoch)
	prepared := mustRotate(t, first, epoch.Add(pairRenewal), true)
	other, err := newRing([]string{"somebody.else.svc"}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		from     *ring
		at       time.Duration // since epoch
		injected bool
		wantSame bool
		// Which pairs the ring has: of from, or new.
		wantServing, wantNext string
		wantTrusted           int
	}{
		"fresh":                     {first, pairRenewal - time.Second, true, true, "serving", "none", 1},
		"due":                       {first, pairRenewal, true, false, "serving", "new", 2},
		"due, though not injected":  {first, pairRenewal, false, false, "serving", "new", 2},
		"too soon":                  {prepared, pairRenewal + overlap - time.Second, true, true, "serving", "next", 2},
		"late enough":               {prepared, pairRenewal + overlap, true, false, "next", "none", 2},
		"not injected":              {prepared, pairRenewal + overlap, false, true, "serving", "next", 2},
		"expired, next is there":    {prepared, pairLife + time.Minute, false, false, "next", "none", 1},
		"both expired":              {prepared, 2 * pairLife, false, false, "new", "none", 1},
		"expired, nobody was there": {first, pairLife + time.Minute, false, false, "new", "none", 1},
		"for another name":          {other, 0, false, false, "new", "none", 2},
		"nobody trusted":            {&ring{serving: first.serving}, 0, true, false, "serving", "none", 1},
		"next for another name":     {&ring{first.serving, other.serving, first.trusted}, time.Hour, true, false, "serving", "none", 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			now := epoch.Add(tt.at)
			got := mustRotate(t, tt.from, now, tt.injected)
			if same := got == tt.from; same != tt.wantSame {
				t.Errorf("same ring: %t", same)
			}
			which := func(p *pair) string {
				switch p {
				case nil:
					return "none"
				case tt.from.serving:
					return "serving"
				case tt.from.next:
					return "next"
				default:
					return "new"
				}
			}
			if s, n := which(got.serving), which(got.next); s != tt.wantServing || n != tt.wantNext {
				t.Errorf("serving %s, next %s; want %s, %s", s, n, tt.wantServing, tt.wantNext)
			}
			if n := len(got.trusted); n != tt.wantTrusted {
				t.Errorf("%d authorities, want %d", n, tt.wantTrusted)
			}
			if err := accepts(got.bundle(), got.serving, now); err != nil {
				t.Error(err)
			}
			if again := mustRotate(t, got, now, tt.injected); again != got {
				t.Error("turns again")
			}
		})
	}
}

func TestRingIsRead(t *testing.T) {
	prepared := mustRotate(t, mustRing(t, epoch), epoch.Add(pairRenewal), true)
	change := func(f func(map[string][]byte)) map[string][]byte {
		data := dataOf(prepared)
		f(data)
		return data
	}
	tests := map[string]struct {
		data        map[string][]byte
		wantErr     bool
		wantNext    bool
		wantTrusted int
	}{
		"whole":     {data: dataOf(prepared), wantNext: true, wantTrusted: 2},
		"nothing":   {wantErr: true},
		"no key":    {data: change(func(d map[string][]byte) { delete(d, "tls.key") }), wantErr: true},
		"wrong key": {data: change(func(d map[string][]byte) { d["tls.key"] = d["next.key"] }), wantErr: true},
		"no trust":  {data: change(func(d map[string][]byte) { delete(d, "ca.crt") }), wantNext: true},
		"leaf alone": {data: change(func(d map[string][]byte) {
			d["tls.crt"] = encode(pemCertificate, prepared.serving.serving.Certificate[0])
		}), wantErr: true},
		"another's authority": {data: change(func(d map[string][]byte) {
			d["tls.crt"] = slices.Concat(encode(pemCertificate, prepared.serving.serving.Certificate[0]), encode(pemCertificate, prepared.next.authority.Raw))
		}), wantErr: true},
		"spoiled next": {data: change(func(d map[string][]byte) { d["next.crt"] = []byte("nonsense") }), wantTrusted: 2},
		"foreign trust": {data: change(func(d map[string][]byte) {
			d["ca.crt"] = slices.Concat([]byte("nonsense\n"), d["ca.crt"], d["ca.crt"], encode(pemCertificate, []byte("no DER")),
				encode(pemCertificate, prepared.serving.serving.Certificate[0]), []byte("-----BEGIN"))
		}), wantNext: true, wantTrusted: 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseRing(tt.data)
			if tt.wantErr {
				if err == nil {
					t.Error("no error")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if (got.next != nil) != tt.wantNext || len(got.trusted) != tt.wantTrusted {
				t.Errorf("next %t, %d authorities", got.next != nil, len(got.trusted))
			}
			if !got.serving.made().Equal(epoch) {
				t.Errorf("made %s", got.serving.made())
			}
		})
	}
}

func FuzzRing(f *testing.F) {
	r, err := newRing(certificateNames, epoch)
	if err != nil {
		f.Fatal(err)
	}
	data := dataOf(r)
	f.Add(data["tls.crt"], data["tls.key"], data["ca.crt"])
	f.Add([]byte{}, []byte{}, []byte("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"))
	f.Fuzz(func(t *testing.T, cert, key, trusted []byte) {
		read, err := parseRing(map[string][]byte{"tls.crt": cert, "tls.key": key, "ca.crt": trusted, "next.crt": cert, "next.key": key})
		if err != nil {
			return
		}
		turned, err := read.rotate(certificateNames, epoch, true)
		if err != nil {
			t.Fatal(err)
		}
		if !turned.serving.usable(certificateNames, epoch) {
			t.Error("serves what is not usable")
		}
	})
}

// dataOf is what a ring is in the Secret.
func dataOf(r *ring) map[string][]byte {
	data := make(map[string][]byte)
	r.store(data)
	return data
}
