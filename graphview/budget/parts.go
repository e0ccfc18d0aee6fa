package budget

// ObjectParts limits the parts of one object that are read, of each sort. References and health are
// found in the same pass over an object.
var ObjectParts = Declare("object_parts",
	"references of one object, a label selector counted as its keys and values and at least 20, or elements of a list in its status", 10_000)
