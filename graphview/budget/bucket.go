package budget

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Buckets are token buckets, one for each owner. They bound the rate at which an owner
// spends. An owner keeps its bucket when it creates, deletes or renames objects. A bucket that
// is full again equals a new one, so it is deleted. Use [NewBuckets]: the zero value does not work.
type Buckets struct {
	size   int
	refill time.Duration

	mu     sync.Mutex
	owners map[Owner]*bucket
	swept  time.Time
}

// bucket holds the tokens of one owner.
type bucket struct {
	tokens *rate.Limiter
	// forgotten is true once the full bucket was deleted. Handles then look up a new one.
	forgotten atomic.Bool
}

// NewBuckets returns buckets of size tokens. An empty bucket is full again after refill.
func NewBuckets(size int, refill time.Duration) *Buckets {
	return &Buckets{size: size, refill: refill, owners: make(map[Owner]*bucket)}
}

// Bucket returns a handle of the owner's bucket.
func (b *Buckets) Bucket(owner Owner) *Bucket { return &Bucket{all: b, owner: owner} }

// find returns the owner's bucket, or creates a full one.
func (b *Buckets) find(owner Owner) *bucket {
	b.mu.Lock()
	defer b.mu.Unlock()
	if kept := b.owners[owner]; kept != nil {
		return kept
	}
	if now := time.Now(); now.Sub(b.swept) >= b.refill {
		b.swept = now
		for owner, kept := range b.owners {
			if kept.tokens.TokensAt(now) >= float64(b.size) {
				kept.forgotten.Store(true)
				delete(b.owners, owner)
			}
		}
	}
	made := &bucket{tokens: rate.NewLimiter(rate.Limit(float64(b.size)/b.refill.Seconds()), b.size)}
	b.owners[owner] = made
	return made
}

// Bucket is a handle of an owner's bucket. All handles of an owner share the same tokens.
type Bucket struct {
	all   *Buckets
	owner Owner
	// found caches the bucket, to avoid the lock of Buckets.
	found atomic.Pointer[bucket]
}

// current takes the lock of Buckets only if the handle has no bucket or its bucket was deleted. Accepted
// race: tokens that are taken while a full bucket is being deleted are not counted.
func (b *Bucket) current() *rate.Limiter {
	found := b.found.Load()
	if found == nil || found.forgotten.Load() {
		found = b.all.find(b.owner)
		b.found.Store(found)
	}
	return found.tokens
}

// Take takes n tokens, and reports whether the bucket had them. If not, it takes none. If n is
// greater than the size of the bucket, Take always fails.
func (b *Bucket) Take(n int) bool { return b.current().AllowN(time.Now(), n) }

// Borrow takes n tokens, at most as many as a full bucket has, even if the bucket lacks them. It
// returns the time until the bucket has gained the missing ones.
func (b *Bucket) Borrow(n int) time.Duration {
	now := time.Now()
	return b.current().ReserveN(now, min(n, b.all.size)).DelayFrom(now)
}

// Size returns the number of tokens in a full bucket.
func (b *Bucket) Size() int { return b.all.size }

// PerSecond returns the tokens that the bucket gains in a second.
func (b *Bucket) PerSecond() int { return int(float64(b.all.size) / b.all.refill.Seconds()) }

// Left returns the number of tokens in the bucket. Borrow can make it negative.
func (b *Bucket) Left() int { return int(b.current().Tokens()) }
