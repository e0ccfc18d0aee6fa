package rights

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"sync"

	"graphview.dev/graphview/access"
)

// rights has the answers about one identity that one view has needed so far. It is
// immutable.
type rights struct {
	answers answers
	digest  func() string // made when it is needed
}

// newRights digests answers. The digest covers all answers, also the denied
// ones, so that rights with the same digest have the same places with the same
// answers. So subscribers share encodings only if each has asked about all places in
// them, and a subscriber whose answers were dropped continues at its revision only once it has asked about the places
// of the graph again.
// The price: a further place is another digest, and a subscriber that is disconnected at that moment gets the whole
// graph when it reconnects. The key keeps a subscriber from finding out by trial which denied
// namespaces exist.
func newRights(key []byte, answers answers) *rights {
	return &rights{answers: answers, digest: sync.OnceValue(func() string {
		mac := hmac.New(sha256.New, key)
		places := answers.places()
		slices.SortFunc(places, comparePlaces)
		for _, p := range places {
			allowed, _ := answers.get(p)
			// Writes to a hash never fail.
			_, _ = fmt.Fprintf(mac, "%q %q %q %t\n", p.Group, p.Resource, p.Namespace, allowed)
		}
		return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
	})}
}

func comparePlaces(a, b access.Place) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Namespace, b.Namespace))
}

// Allowed implements delivery.Rights.
func (r *rights) Allowed(p access.Place) (allowed, known bool) { return r.answers.allowed(p) }

// Digest implements delivery.Rights.
func (r *rights) Digest() string { return r.digest() }
