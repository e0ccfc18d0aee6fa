package stream

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"

	"graphview.dev/graphview"
)

// rights are the answers that one identity needed for one view so far. They are
// immutable. An answer about a resource without a namespace is about all of the
// cluster; the others are asked only where that one is no.
type rights struct {
	answers map[graphview.Place]bool
	digest  string
}

// newRights digests answers. The digest covers every one of them, the denied
// ones too, so that those of equal digest know the same places and the same
// about each: what was encoded for one never shows another what it has not
// asked for itself, and who comes back after its answers were forgotten, with
// none, cannot continue where it was. The price is that a place more is another
// digest, which costs who is away at that moment the whole graph when it comes
// back. The key keeps a subscriber from finding out by trial which denied
// namespaces there are.
func newRights(key []byte, answers map[graphview.Place]bool) *rights {
	mac := hmac.New(sha256.New, key)
	for _, p := range slices.SortedFunc(maps.Keys(answers), comparePlaces) {
		// What goes into a hash cannot fail to.
		_, _ = fmt.Fprintf(mac, "%q %q %q %t\n", p.Group, p.Resource, p.Namespace, answers[p])
	}
	return &rights{answers: answers, digest: base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])}
}

func comparePlaces(a, b graphview.Place) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Namespace, b.Namespace))
}

// everywhere is the place that stands for all namespaces of p's resource.
func everywhere(p graphview.Place) graphview.Place {
	return graphview.Place{Group: p.Group, Resource: p.Resource}
}

// Allowed implements graphview.Rights.
func (r *rights) Allowed(p graphview.Place) (allowed, known bool) {
	allowed, known = r.answers[everywhere(p)]
	if known && !allowed && p.Namespace != "" {
		allowed, known = r.answers[p]
	}
	return allowed, known
}

// Digest implements graphview.Rights.
func (r *rights) Digest() string { return r.digest }
