package health

import "graphview.dev/graphview/budget"

// elements bounds the lists that are read, since each condition takes many times
// the bytes that it has in JSON.
var elements = budget.Declare("health_list_elements", "conditions, containers or parents in the status of one object", 1000)

// perElement is how many conditions of one parent, ancestor or listener are read.
const perElement = 64

// tooLong reports whether a list of the status is longer than Of reads, or the elements
// of a list together have more conditions than one list may have.
func tooLong(object fields) bool {
	if int64(object.length("endpoints")) > elements.Limit() {
		return true
	}
	status := object.at("status")
	for _, lists := range [][]string{{"conditions"}, containerLists, elementLists} {
		for _, name := range lists {
			if int64(status.length(name)) > elements.Limit() {
				return true
			}
		}
	}
	all, long := 0, false
	for _, list := range elementLists {
		status.each(func(element fields) bool {
			n := element.length("conditions")
			all += n
			long = n > perElement || int64(all) > elements.Limit()
			return !long
		}, list)
	}
	return long
}
