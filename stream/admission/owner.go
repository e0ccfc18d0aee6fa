package admission

const (
	// fewGraphs is how many of a thing each owner may have as long as any is free.
	fewGraphs = 16
	// freeShare is the part of the free amount, one in freeShare, up to which one owner may
	// have more. So the last places go to owners who have few.
	freeShare = 8
)

// hasRoom reports whether an owner who holds some may have one more of what is free.
func hasRoom(held, free int64) bool {
	return free > 0 && (held < fewGraphs || held*freeShare < free)
}
