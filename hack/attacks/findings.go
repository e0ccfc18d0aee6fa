package main

// finding is one of what an attack on a running operator got in November 2026, at
// 1444e96.
type finding struct {
	trigger string
	// before is what it did then.
	before string
	// tests try it, by package and name.
	tests []test
}

type test struct{ pkg, name string }

const hostile = "./test/hostile"

var findings = []finding{
	{"YAML aliases in a Helm release of a kilobyte", "OOM in 2.6 s, again after each restart", []test{{hostile, "TestReleases"}}},
	{"types of expressions that double, sent to the webhook by strangers", "OOM in 55 s by 6 requests", []test{{hostile, "TestStrangersAtTheWebhook"}, {hostile, "TestExpressions"}}},
	{"values of expressions beyond cost", "OOM in 3 to 9 s, or a core for hours", []test{{hostile, "TestExpressions"}, {hostile, "TestExpressionsOfRules"}, {hostile, "TestExpressionsOfRequests"}}},
	{"two streams of an identity that was idle", "one is never checked again", []test{{"./stream/rights", "TestNobodyEscapes"}}},
	{"subscriptions in flight, and guessed tokens", "valid tokens got 401, the APIService was unavailable", []test{{hostile, "TestFloodOfSubscriptions"}, {hostile, "TestFloodOfTokens"}, {hostile, "TestTokensOfNobody"}}},
	{"10,000 idle connections for many graphs", "429 for everybody", []test{{hostile, "TestShares"}}},
	{"readers that do not read", "0.9 MB each, 1.6 MB with compression: OOM at 814", []test{{hostile, "TestReadersThatDoNotRead"}, {"./graphview/delivery", "TestLargeChangesComeInPieces"}}},
	{"a stolen token of the operator", "a veto on every write of the cluster", []test{{"./test/chart", "TestInstalled"}}},
	{"resource selectors that cost much", "a core for ever, also after deletion", []test{{hostile, "TestCostlyResources"}}},
	{"a JSONPath that repeats an object", "939 MiB in 4 s", []test{{hostile, "TestMultipliedPaths"}}},
	{"an API server that stands still", "valid tokens got 401", []test{{hostile, "TestFloodOfSubscriptions"}, {"./stream", "TestTokensWhoseTurnDoesNotCome"}, {"./stream", "TestTokenFlood"}}},
	{"exports at the start", "967 MiB with 30", []test{{hostile, "TestExportsAtOnce"}}},
	{"an object that names new kinds again and again", "170 MB by 290 updates, kept", []test{{hostile, "TestInterning"}}},
	{"many GraphViews, with selectors of their own", "3,861 watches by 20", []test{{hostile, "TestManyWatches"}, {hostile, "TestManyGraphViews"}}},
	{"many tokens of one user", "a stranger's first graph took 15 s", []test{{"./stream/rights", "TestManyTokensDelayNobodyElse"}}},
	{"GraphViews that ask about what their author may not read", "14 characters in 9 s", []test{{"./controllers", "TestWebhook"}}},
	{"small objects that claim or name many others", "558,000 arcs of 60 KB", []test{{hostile, "TestArcs"}, {"./graphview", "TestReferencesHaveRoomAgain"}}},
	{"revs, warnings, origins, impersonation", "one bit each", []test{{hostile, "TestOrigins"}, {hostile, "TestHeaders"}}},
}
