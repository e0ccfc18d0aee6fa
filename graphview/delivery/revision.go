package delivery

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"strings"
)

// Run is one run of the process. Revisions of another run are not valid.
type Run struct {
	id     string
	secret cipher.Block
}

// NewRun returns a run with a random key.
func NewRun() *Run {
	key := make([]byte, aes.BlockSize)
	_, _ = rand.Read(key) // never fails
	// A key of this length is always accepted.
	block, _ := aes.NewCipher(key)
	return &Run{id: NewID(), secret: block}
}

// ID returns the text before the dot in each revision of the run.
func (r *Run) ID() string { return r.id }

// RunOf returns the ID of the Run that issued a revision, "" if the text is not a revision.
func RunOf(revision string) string {
	id, _, ok := strings.Cut(revision, ".")
	if !ok {
		return ""
	}
	return id
}

// NewID returns a random name.
func NewID() string { return strings.ToLower(rand.Text()[:10]) }

// revision is the token with which a subscriber resumes. It binds the run, the view, the
// subscriber's options and rights, and a position. If any of them differs, the subscriber is reset.
type revision struct {
	view, rights uint32
	known        uint64
}

// revision returns the token of a viewer that has the whole graph as of a position.
func (p *Publisher) revision(v viewer, known uint64) revision {
	return revision{view: hash32(p.o.UID + v.optionsDigest()), rights: hash32(digestOf(v.rights)), known: known}
}

// decode returns the revision of a text that this run issued for the view and the options of a viewer, with
// any rights. It returns zero for other texts.
func (p *Publisher) decode(text string, v viewer) revision {
	if r, ok := p.o.Run.decode(text); ok && r.view == p.revision(v, 0).view {
		return r
	}
	return revision{}
}

// isFor reports whether a viewer with these rights has the graph of the revision.
func (r revision) isFor(v viewer) bool { return r.known > 0 && r.rights == hash32(digestOf(v.rights)) }

func hash32(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s))
	return h.Sum32()
}

// encode formats a revision. It is encrypted because known counts the changes of all views, also of
// objects that the subscriber may not see.
func (r *Run) encode(rev revision) string {
	var block [aes.BlockSize]byte
	binary.BigEndian.PutUint32(block[0:], rev.view)
	binary.BigEndian.PutUint32(block[4:], rev.rights)
	binary.BigEndian.PutUint64(block[8:], rev.known)
	r.secret.Encrypt(block[:], block[:])
	return r.id + "." + base64.RawURLEncoding.EncodeToString(block[:])
}

// decode is the inverse of encode. It returns false for a text that is not a revision of this run.
func (r *Run) decode(text string) (revision, bool) {
	id, rest, _ := strings.Cut(text, ".")
	block, err := base64.RawURLEncoding.DecodeString(rest)
	if id != r.id || err != nil || len(block) != aes.BlockSize {
		return revision{}, false
	}
	r.secret.Decrypt(block, block)
	rev := revision{binary.BigEndian.Uint32(block), binary.BigEndian.Uint32(block[4:]), binary.BigEndian.Uint64(block[8:])}
	return rev, rev.known > 0
}
