package budget

// OpenGraphs limits the graphs that are sent to subscribers, and those of one view that are sent to
// another replica.
var OpenGraphs = Declare("open_graphs", "graphs that are being sent at once", 10_000)

// ObjectParts limits the parts of one object that are read: its references, and by themselves the
// elements of each list in its status.
var ObjectParts = Declare("object_parts",
	"references of one object, a label selector counted as its keys and values and at least 20, or elements of a list in its status, each counted as 10", 10_000)
