package expr

import (
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiserver/pkg/cel/library"
)

// costModel is that of Kubernetes, with what it takes for constant: comparing
// and concatenating lists and maps. Otherwise loops around such operations
// could work for hours within the limit.
type costModel struct {
	library.CostEstimator
}

// CallCost is the cost of a call that was made.
func (m *costModel) CallCost(function, overload string, arguments []ref.Val, result ref.Val) *uint64 {
	switch function {
	case operators.Equals, operators.NotEquals, operators.In:
		if aggregate(arguments[0]) || aggregate(arguments[1]) {
			left := maxCompared
			for _, argument := range arguments {
				left = weigh(argument, max(left, 0), false)
			}
			return new(uint64(maxCompared - max(left, 0)))
		}
	case operators.Add:
		// The shorter one only: map() and filter() append one element at a
		// time, and shall cost what the elements do.
		if _, ok := result.(traits.Lister); ok {
			return new(uint64(1 + min(length(arguments[0]), length(arguments[1]))))
		}
	}
	return m.CostEstimator.CallCost(function, overload, arguments, result)
}

func aggregate(v ref.Val) bool {
	switch v.(type) {
	case traits.Lister, traits.Mapper:
		return true
	}
	return false
}
