package rights

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"

	"graphview.dev/graphview/access"
)

// rights are the answers that one identity needed for one view so far. They are
// immutable.
type rights struct {
	answers answers
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
func newRights(key []byte, answers answers) *rights {
	mac := hmac.New(sha256.New, key)
	places := answers.places()
	slices.SortFunc(places, comparePlaces)
	for _, p := range places {
		allowed, _ := answers.get(p)
		// Writes to a hash never fail.
		_, _ = fmt.Fprintf(mac, "%q %q %q %t\n", p.Group, p.Resource, p.Namespace, allowed)
	}
	return &rights{answers: answers, digest: base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])}
}

func comparePlaces(a, b access.Place) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Namespace, b.Namespace))
}

// Allowed implements delivery.Rights.
func (r *rights) Allowed(p access.Place) (allowed, known bool) { return r.answers.allowed(p) }

// Digest implements delivery.Rights.
func (r *rights) Digest() string { return r.digest }
