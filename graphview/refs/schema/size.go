package schema

import "graphview.dev/graphview/budget"

// Size limits the schema of one kind, while it is decoded and while references are found in it.
var Size = budget.Declare("schema_kind", "fields of one kind's schema, each reference that it tells counted as 50", 100_000)

// RuleSize is the share of each reference in a schema's Size.
const RuleSize = 50
