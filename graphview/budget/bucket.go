package budget

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Buckets are token buckets, one for each owner: they bound what an owner spends over
// time. An owner has one bucket, whatever it makes, deletes or renames. A bucket that is
// full again is as good as a new one, and is forgotten. The zero value is not usable: see
// [NewBuckets].
type Buckets struct {
	size   int
	refill time.Duration

	mu     sync.Mutex
	owners map[Owner]*bucket
	swept  time.Time
}

// bucket is what one owner has left.
type bucket struct {
	tokens *rate.Limiter
	// forgotten: the bucket was full, and the owner's next one counts instead.
	forgotten atomic.Bool
}

// NewBuckets returns buckets of a size that fill within a time.
func NewBuckets(size int, refill time.Duration) *Buckets {
	return &Buckets{size: size, refill: refill, owners: make(map[Owner]*bucket)}
}

// Bucket returns the owner's bucket.
func (b *Buckets) Bucket(owner Owner) *Bucket { return &Bucket{all: b, owner: owner} }

// find returns the owner's bucket, a full one if it has none.
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

// Bucket is a way to an owner's bucket. All Buckets of an owner lead to the same tokens.
type Bucket struct {
	all   *Buckets
	owner Owner
	// found saves the lock of all buckets.
	found atomic.Pointer[bucket]
}

// current is lock-free, but for the first call after a time without one. Tokens that are
// taken while a full bucket is being forgotten are lost with it.
func (b *Bucket) current() *rate.Limiter {
	found := b.found.Load()
	if found == nil || found.forgotten.Load() {
		found = b.all.find(b.owner)
		b.found.Store(found)
	}
	return found.tokens
}

// Take takes n tokens, and reports whether they were there; if not, it takes none. More
// than a full bucket has are never there.
func (b *Bucket) Take(n int) bool { return b.current().AllowN(time.Now(), n) }

// Borrow takes n tokens, at most a full bucket, and returns how long to wait until they
// are there.
func (b *Bucket) Borrow(n int) time.Duration {
	now := time.Now()
	return b.current().ReserveN(now, min(n, b.all.size)).DelayFrom(now)
}

// Size is how many tokens a full bucket has.
func (b *Bucket) Size() int { return b.all.size }

// PerSecond is how many tokens the bucket gains.
func (b *Bucket) PerSecond() int { return int(float64(b.all.size) / b.all.refill.Seconds()) }

// Left is how many tokens there are. It is negative while some are borrowed.
func (b *Bucket) Left() int { return int(b.current().Tokens()) }
