package controllers

import (
	"fmt"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers/validation"
	"graphview.dev/graphview"
)

// setCounts sets everything in status but its conditions from the engine's Status,
// within the bounds of the API.
func setCounts(status *v1alpha1.GraphViewStatus, st *graphview.Status) {
	status.ResourceCount = int64(len(st.Resources))
	status.Vertices = int64(st.Vertices)
	status.Arcs = int64(st.Arcs)
	status.Roots = int64(st.Roots)
	status.Memory = ""
	if st.Held > 0 {
		status.Memory = fmt.Sprintf("%dMi", (st.Held+1<<20-1)>>20)
	}
	status.Health, status.Missing = nil, nil
	if st.Served {
		status.Health = new(st.Health)
		status.Missing = new(int64(st.Missing))
	}
	status.Subscribers = int64(st.Subscribers)
	status.Warnings = boundWarnings(st.Warnings)
	status.Resources = nil
	for _, row := range st.Resources[:min(len(st.Resources), v1alpha1.MaxStatusResources)] {
		row.Message = validation.Cut(row.Message, v1alpha1.MaxResourceMessage)
		status.Resources = append(status.Resources, row)
	}
}

// boundWarnings keeps the first warnings. The last one says how many more
// there are.
func boundWarnings(warnings []string) []string {
	keep := warnings
	if len(warnings) > v1alpha1.MaxWarnings {
		keep = warnings[:v1alpha1.MaxWarnings-1]
	}
	var out []string
	for _, warning := range keep {
		out = append(out, validation.Cut(warning, v1alpha1.MaxWarning))
	}
	if more := len(warnings) - len(keep); more > 0 {
		out = append(out, fmt.Sprintf("and %d more warnings", more))
	}
	return out
}
