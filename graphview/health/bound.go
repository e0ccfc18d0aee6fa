package health

import "graphview.dev/graphview/budget"

// elements bounds the lists that are read, since each condition takes many times
// the bytes that it has in JSON.
var elements = budget.Declare("health_list_elements", "conditions, containers or parents in the status of one object", 1000)

// perParent is how many conditions of one parent are read.
const perParent = 64

// lists are those of an object's status that have elements of any number.
var lists = []string{"conditions", "containerStatuses", "initContainerStatuses", "parents"}

// tooLong tells whether one of the lists is longer than what is read of it, or the
// conditions of all parents are more than one list may have.
func tooLong(object fields) bool {
	status := object.below("status")
	for _, name := range lists {
		if int64(status.length(name)) > elements.Limit() {
			return true
		}
	}
	all, long := 0, false
	status.each(func(parent fields) bool {
		n := parent.length("conditions")
		all += n
		long = n > perParent || int64(all) > elements.Limit()
		return !long
	}, "parents")
	return long
}
