package health

import "graphview.dev/graphview/budget"

// elements bounds the lists that are read, since each condition takes many times
// the bytes that it has in JSON.
var elements = budget.Declare("health_list_elements", "conditions, containers or parents in the status of one object", 1000)

// lists are those of an object's status that have elements of any number.
var lists = []string{"conditions", "containerStatuses", "initContainerStatuses", "parents"}

// tooLong tells whether one of the lists is longer than what is read of it.
func tooLong(object fields) bool {
	status := object.below("status")
	for _, name := range lists {
		if int64(status.length(name)) > elements.Limit() {
			return true
		}
	}
	return false
}
