package budget

// OpenGraphs limits the graphs that are being sent to subscribers.
var OpenGraphs = Declare("open_graphs", "graphs that are being sent at once", 10_000)

// ObjectParts limits the references that are read from one object and, separately, the elements of
// each list in its status.
var ObjectParts = Declare("object_parts",
	"references of one object, a label selector counted as its keys and values and at least 20, or elements of a list in its status, each counted as 10", 10_000)
