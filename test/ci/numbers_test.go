package ci

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/constant"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// number is a number that a page of docs promises: the code has it under a name.
type number struct {
	page, says string // the page has this text
	file, name string // a constant, a member of a literal, or a field with a default by cmp.Or
	is         string // its value, as Go writes it
}

const (
	seconds = "*time.Second"
	minutes = "*time.Minute"
)

// numbers are bounds, defaults and times that users rely on. A test of the behaviour often has a smaller number, so
// that it takes less time: it does not notice when the number changes.
var numbers = []number{
	{"graphview.md", "nests at most 100 levels deep", "graphview/expr/limits.go", "maxNesting", "100"},
	{"graphview.md", "An expression has at most 10,240 characters", "graphview/expr/limits.go", "MaxTextLength", "10_240"},
	{"graphview.md", "at most 2,000 literal lists and maps", "graphview/expr/limits.go", "maxLiterals", "2_000"},
	{"graphview.md", "A path finds at most 10,000 nodes in one object", "graphview/expr/limits.go", "maxPathNodes", "10_000"},
	{"graphview.md", "There are at most 32 fields", "graphview/spec/compile.go", "maxFields", "32"},
	{"graphview.md", "the nearest root, up to 64. 0 means any number", "graphview/graph/walk.go", "MaxDepth", "64"},
	{"graphview.md", "when a GraphView of the namespace is deleted, and every five minutes", "graphview/options.go", "LimitRetry", "5" + minutes},
	{"graphview.md", "while the graph is read again, for at most 45 seconds", "controllers/write.go", "restartGrace", "45" + seconds},
	{"graphview.md", "current warnings, at most ten", "api/v1alpha1/graphview_status.go", "MaxWarnings", "10"},
	{"graphview.md", "At most 20 objects are named; one more warning counts the rest", "graphview/delivery/faults.go", "maxShown", "20"},

	{"stream.md", "| message | silence of 20 s |", "stream/options.go", "heartbeat", "20" + seconds},
	{"stream.md", "an answer is expected within 30 s", "stream/options.go", "pong", "30" + seconds},
	{"stream.md", "one JSON object of at most 1 MiB, unless a single object is larger", "graphview/delivery/frame.go", "MaxFrameBytes", "1 << 20"},
	{"stream.md", "sorted; at most four, and inferred ones are left out first", "graphview/graph/paths.go", "maxFields", "4"},
	{"stream.md", "[references to other clusters](fleet.md#references-to-other-clusters), at most 1,000", "graphview/refs/remote.go", "maxRemotes", "1_000"},
	{"stream.md", "`out` and `in` have at most 1,000 arcs each", "graphview/delivery/find.go", "maxArcs", "1_000"},
	{"stream.md", "refer to one of the first 32 deleted objects", "stream/impact.go", "maxUnseen", "32"},
	{"stream.md", "`&whole=NAMESPACE`, up to 100 of them", "stream/parse_options.go", "mostWhole", "100"},
	{"stream.md", "at most so many changes, up to 1,000; 200 without it", "stream/changes.go", "mostChanges", "1_000"},
	{"stream.md", "at most so many changes, up to 1,000; 200 without it", "stream/changes.go", "fewChanges", "200"},
	{"stream.md", "that of fields `paths`, at most 16", "graphview/history/compare.go", "maxPaths", "16"},
	{"stream.md", "Equal changes of an object within ten minutes are one", "graphview/delivery/changes.go", "foldWithin", "10" + minutes},
	{"stream.md", "more changed than 128 MiB hold", "graphview/history/past.go", "pastBytes", "128 << 20"},
	{"stream.md", "It may be given 64 times", "graphview/graph/walk.go", "MaxRoots", "64"},
	{"stream.md", "at most 64; 0 is any number", "graphview/graph/walk.go", "MaxDepth", "64"},
	{"stream.md", "may be up to a second older than the stream", "graphview/writer/publication.go", "maxRest", "time.Second"},
	{"stream.md", "kept for ten minutes after its last stream of the view", "stream/question.go", "keepRightsFor", "10" + minutes},
	{"stream.md", "the last 8,192 deleted vertices and arcs", "graphview/graph/log.go", "minTombstones", "8_192"},
	{"stream.md", "A URL with more than 9 bits is too long", "client/subscription.go", "maxURLBits", "9"},
	{"stream.md", "Choose BITS from 0 to 12", "api/contents/have.go", "MaxBits", "12"},
	{"stream.md", "the first message comes within 10 s", "stream/options.go", "request", "10" + seconds},
	{"stream.md", "it is text of at most 64 KiB", "stream/request.go", "maxRequest", "64 << 10"},
	{"stream.md", "more than 256 channels on this connection", "stream/options.go", "MaxChannels", "256"},
	{"stream.md", "it unsubscribes for the 17th time", "stream/mux/read.go", "maxUnsubscribes", "16"},
	{"stream.md", "A connection without a graph for a minute is closed (1001)", "stream/options.go", "idle", "time.Minute"},

	{"security.md", "asked for again every `--permission-recheck` (60 s)", "stream/options.go", "PermissionRecheck", "time.Minute"},
	{"security.md", "the header or the body is disconnected after ten seconds", "stream/filters.go", "bodyWithin", "10" + seconds},
	{"security.md", "after five failed checks in a row it ends with 1013", "graphview/rights/permissions.go", "MaxFailed", "5"},
	{"security.md", "the last answer holds for five intervals", "graphview/rights.go", "MaxFailed", "10"}, // each of half an interval
	{"security.md", "The checks of subscribers are limited to 400 questions a second", "stream/question.go", "calmPerSecond", "400"},
	{"security.md", "separate limits of 200 a second", "stream/authentication.go", "tokensPerSecond", "200"},
	{"security.md", "separate limits of 200 a second", "stream/authorization.go", "requestsPerSecond", "200"},
	{"security.md", "does not answer within ten seconds is 503", "stream/authorization.go", "answerWithin", "10" + seconds},
	{"security.md", "with `Retry-After`, never 401 or 403", "stream/filter_chain.go", "retryAfter", "5"},
	{"security.md", "and 1,000,000,000 for all expressions of one owner", "graphview/options.go", "defaultBudget", "1_000_000_000"},
	{"security.md", "a hundredth of that is granted again each second", "graphview/options.go", "budgetRefill", "100" + seconds},
	{"security.md", "takes more than 512 references or comparisons", "graphview/graph/urgency.go", "largeChange", "512"},
	{"security.md", "all expressions for ten minutes", "cmd/manager/crashes.go", "crashPause", "10" + minutes},
	{"security.md", "| the owner of a view or connection | a view; its compiled expressions | 40 KiB; 96 for each byte of text |", "graphview/held.go", "viewBytes", "40 << 10"},
	{"security.md", "| the owner of a view or connection | a view; its compiled expressions | 40 KiB; 96 for each byte of text |", "graphview/held.go", "programBytes", "96"},
	{"security.md", "| | an object of its graph; what went from it in the last hour | 50, and 116 and what `fields` and `jsonPath` find; 82 for each reference |", "graphview/graph/latest.go", "entryBytes", "50"},
	{"security.md", "| | an object of its graph; what went from it in the last hour | 50, and 116 and what `fields` and `jsonPath` find; 82 for each reference |", "graphview/graph/latest.go", "partBytes", "116"},
	{"security.md", "what went from it in the last hour", "graphview/keeper.go", "rememberFor", "time.Hour"},
	{"security.md", "| | a summary, while a subscriber reads it | 112 and its text |", "graphview/delivery/summary.go", "summaryBytes", "112"},
	{"security.md", "their text and 600 each, at most 8 MiB of a view", "graphview/delivery/shared.go", "pieceBytes", "600"},
	{"security.md", "their text and 600 each, at most 8 MiB of a view", "graphview/delivery/shared.go", "maxShared", "8 << 20"},
	{"security.md", "| | a right that its ServiceAccount was asked for | 250 |", "graphview/held.go", "rightBytes", "250"},
	{"security.md", "| 64 KiB, and its objects: 1,400 each and their compressed content |", "graphview/held.go", "watchBytes", "64 << 10"},
	{"security.md", "| 64 KiB, and its objects: 1,400 each and their compressed content |", "graphview/held.go", "objectBytes", "1_400"},
	{"security.md", "| 64, and 16 for each watch that it shares |", "graphview/held.go", "selectedBytes", "64"},
	{"security.md", "| 64, and 16 for each watch that it shares |", "graphview/held.go", "indexedBytes", "16"},
	{"security.md", "| | an object that could not be processed | 160 and its name |", "graphview/delivery/faults.go", "faultBytes", "160"},
	{"security.md", "| 32 KiB; 16 KiB; 256 KiB and the message |", "stream/admission/conns.go", "connBytes", "32 << 10"},
	{"security.md", "| 32 KiB; 16 KiB; 256 KiB and the message |", "stream/answer.go", "requestBytes", "16 << 10"},
	{"security.md", "| 32 KiB; 16 KiB; 256 KiB and the message |", "stream/fleet/tunnel/session.go", "Window", "256 << 10"},
	{"security.md", "| 8 KiB for each credential, 160 for each combination", "graphview/rights/identity.go", "identityBytes", "8 << 10"},
	{"security.md", "| 8 KiB for each credential, 160 for each combination", "graphview/rights/identity.go", "answerBytes", "80"}, // each of two
	{"security.md", "| the namespace of the object | an object | 470 and its compressed content |", "graphview/watch/payment.go", "objectBytes", "470"},
	{"security.md", "| | a reference; to an object that does not exist | 44; 132 and the name more |", "graphview/graph/payer.go", "arcBytes", "44"},
	{"security.md", "| | a reference; to an object that does not exist | 44; 132 and the name more |", "graphview/graph/payer.go", "placeholderBytes", "132"},
	{"security.md", "| | selectors of an object; one of them; one of its requirements; one of its values | 210; 128; 54 and its key; 18 to 86 and its text |", "graphview/graph/texts.go", "holderBytes", "210"},
	{"security.md", "one of its requirements; one of its values | 210; 128; 54 and its key; 18 to 86 and its text |", "graphview/graph/texts.go", "requirementBytes", "54"},
	{"security.md", "a user who already has 16 or more of a thing", "stream/admission/registry.go", "fewGraphs", "16"},
	{"security.md", "if at least eight times as many remain free", "stream/admission/registry.go", "freeShare", "8"},
	{"security.md", "one address a quarter of the connections of strangers", "stream/admission/conns.go", "addressShare", "3"},
	{"security.md", "and of the requests to the webhook", "controllers/webhook_gate.go", "peerShare", "3"},
	{"security.md", "each of at most 3.25 MiB", "controllers/webhook_gate.go", "maxRequest", "13 << 18"},
	{"security.md", "10 s for a whole request on the ports of metrics, health and the webhook", "cmd/manager/ports.go", "portRead", "10" + seconds},
	{"security.md", "| 64 KiB of header | 431 |", "stream/server.go", "headerBytes", "64 << 10"},
	{"security.md", "| 30 s until somebody is authenticated on a connection |", "stream/admission/conns.go", "unknownFor", "30" + seconds},
	{"security.md", "| 64 queries, 64 roots, 1,024 names of namespaces,", "graphview/spec/compile.go", "maxQueries", "64"},
	{"security.md", "| 64 queries, 64 roots, 1,024 names of namespaces,", "graphview/graph/walk.go", "MaxRoots", "64"},
	{"security.md", "| 64 queries, 64 roots, 1,024 names of namespaces,", "graphview/spec/compile.go", "maxNames", "1_024"},
	{"security.md", "| 64 KiB for all expressions, selectors and paths of a spec together |", "graphview/spec/spec.go", "maxText", "64 << 10"},
	{"security.md", "Rights are asked for again every five minutes", "cmd/kubectl-graphview/internal/local/serve.go", "rightsInterval", "10" + minutes}, // twice that

	{"operations.md", "A view of up to 16 named namespaces", "graphview/plan/book.go", "maxApart", "16"},
	{"operations.md", "they share such a watch until they need 8 or fewer", "graphview/plan/book.go", "minShared", "8"},
	{"operations.md", "in each namespace that a view selects, up to 256", "graphview/plan/claim.go", "maxFallbackWatches", "256"},
	{"operations.md", "it polls every 30 s to learn which resources the cluster serves", "graphview/resources/schedule.go", "defaultPollInterval", "30" + seconds},
	{"operations.md", "whose counts changed, at most every five seconds", "controllers/graphview_controller.go", "defaultStatusInterval", "5" + seconds},
	{"operations.md", "crashes or stands still expires after 15 seconds", "controllers/election.go", "leaseDuration", "15" + seconds},
	{"operations.md", "the event loop has made no progress for ten seconds", "cmd/manager/health.go", "aliveWithin", "10" + seconds},
	{"operations.md", "have five seconds to deliver that message", "stream/options.go", "grace", "5" + seconds},
	{"operations.md", "33554432 (32 MiB) in memory", "graphview/history/log.go", "DefaultBytes", "32 << 20"},
	{"operations.md", "268435456 (256 MiB) in `--history-dir`", "graphview/history/log.go", "DefaultStoreBytes", "256 << 20"},
	{"operations.md", "Nothing is older than seven days", "graphview/history/log.go", "DefaultAge", "168*time.Hour"},
	{"operations.md", "those with a value above 0, at most 100 of them", "graphview/metrics.go", "maxNamedViews", "100"},
	{"operations.md", "There are at most 50,000", "graphview/relations.go", "maxRelations", "50_000"},

	{"install.md", "a certificate is 60 of its 90 days old", "controllers/pki/pair.go", "pairLife", "90*24*time.Hour"},
	{"install.md", "a certificate is 60 of its 90 days old", "controllers/pki/pair.go", "pairRenewal", "60*24*time.Hour"},
	{"install.md", "at least 10 minutes later, when both authorities are trusted", "controllers/pki/ring.go", "overlap", "10" + minutes},
	{"install.md", "Every minute the operator compares the configuration", "controllers/webhook_guard.go", "webhookGuardInterval", "time.Minute"},

	{"troubleshooting.md", "in pages of at most 500 objects", "graphview/watch/pages.go", "pageSize", "500"},
	{"troubleshooting.md", "for a missing namespace every half minute", "controllers/namespaces.go", "absentRetry", "30" + seconds},

	{"references.md", "An object has at most 10,000 references", "graphview/refs/bound.go", "MaxReferences", "10_000"},
	{"references.md", "as many as it has keys and values, and at least 20", "graphview/refs/bound.go", "minTerms", "20"},
	{"references.md", "more than 512 references, former and new ones together", "graphview/graph/urgency.go", "largeChange", "512"},
	{"references.md", "A path has at most 32 steps", "graphview/refs/path.go", "maxDepth", "32"},
	{"references.md", "An expression names at most 1,000 objects", "graphview/expr/rule_references.go", "maxFound", "1_000"},
	{"references.md", "at most 64 letters, digits, dots, dashes and underscores", "graphview/health/health.go", "maxReason", "64"},
	{"references.md", "`progressing` for more than ten minutes since then is `degraded`", "graphview/health/health.go", "Patience", "10" + minutes},
	{"health.md", "becomes `degraded` ten minutes after the condition took its status", "graphview/health/health.go", "Patience", "10" + minutes},
	{"health.md", "the object was created less than ten minutes ago", "client/health.go", "selectsPatience", "10" + minutes},
	{"health.md", "one of the latter four more than 64 conditions", "graphview/health/elements.go", "perElement", "64"},

	{"fleet.md", "A hub has up to eight replicas", "stream/fleet/tunnel/dial.go", "maxTunnels", "8"},
	{"fleet.md", "waits 20 seconds (`fleet.clusterWait`)", "stream/options.go", "ClusterWait", "20" + seconds},
	{"fleet.md", "as its `timeout=` says, at most five minutes", "stream/cluster_path.go", "maxClusterWait", "5" + minutes},
	{"fleet.md", "counts as not connected for half a minute; then it is 404", "stream/fleet/hub/hub.go", "removedFor", "30" + seconds},
	{"fleet.md", "Pings travel every 15 seconds", "stream/fleet/tunnel/session.go", "pingAfter", "15" + seconds},
	{"fleet.md", "tries again within 5 seconds, or within ten while the hub refuses it", "stream/fleet/tunnel/dial.go", "maxPause", "5" + seconds},
	{"fleet.md", "tries again within 5 seconds, or within ten while the hub refuses it", "stream/fleet/tunnel/dial.go", "maxRefusedPause", "10" + seconds},
	{"fleet.md", "one JSON object of at most 8 MiB that names no channel", "stream/fleet/proxy/lines.go", "maxMessage", "8 << 20"},

	{"kubectl.md", "an operator that the API server does not reach is waited for 5 seconds", "cmd/kubectl-graphview/internal/command/follow.go", "unreachedFor", "5" + seconds},
	{"kubectl.md", "Of many problems the 20 worst have it", "cmd/kubectl-graphview/internal/command/explain.go", "mostLookedUp", "20"},
	{"kubectl.md", "that at most 20 of its bindings bind", "cmd/kubectl-graphview/internal/command/explain.go", "mostLookedUp", "20"},
	{"kubectl.md", "do not fit into a rule of 32", "cmd/kubectl-graphview/internal/command/rule.go", "mostDeclared", "32"},
	{"kubectl.md", "of that name, up to 64 KiB", "cmd/kubectl-graphview/internal/agent/server.go", "mostText", "64 << 10"},
	{"kubectl.md", "A graph has at most 200,000 objects", "graphview/options.go", "MaxVertices", "200_000"},
	{"history.md", "fields that change three times or more in a series", "cmd/kubectl-graphview/internal/command/changes_fold.go", "leastSeries", "3"},
	{"history.md", "the two worst lines of what followed", "cmd/kubectl-graphview/internal/command/changes_fold.go", "mostConsequences", "2"},
	{"history.md", "the last three changes of an object", "cmd/kubectl-graphview/internal/command/changes_last.go", "mostLast", "3"},
	{"manifests.md", "A file may have 32 MB", "cmd/kubectl-graphview/internal/offline/document.go", "maxFile", "32 << 20"},
	{"manifests.md", "a document in it 8 MB", "cmd/kubectl-graphview/internal/offline/document.go", "maxDocument", "8 << 20"},
	{"manifests.md", "and an object 3 MB", "cmd/kubectl-graphview/internal/offline/document.go", "maxObject", "3 << 20"},
	{"manifests.md", "all files together 256 MB", "cmd/kubectl-graphview/internal/offline/loader.go", "maxContent", "256 << 20"},
	{"clients.md", "have a million objects and references together", "stream/admission/exports.go", "ExportRoom", "1 << 20"},
	{"clients.md", "A reader that takes nothing for a minute is disconnected", "stream/export.go", "exportWriteTimeout", "time.Minute"},
}

// text is a number of a page that another file than one of Go has, in these words.
type text struct{ page, says, file, has string }

var texts = []text{
	{"clients.md", "the pauses, in milliseconds; 500 and 30,000", "client/js/graphview.js", "minDelay: 500, maxDelay: 30_000"},
	{"clients.md", "which is remembered for ten minutes", "client/js/sockets.js", "const again = 600_000; // ms"},
	{"clients.md", "(`--cookie-refresh`), so tokens have to live longer", "charts/graphview/templates/login.yaml", "--cookie-refresh=2m"},
	{"dashboard.md", "a graph of 3,000 objects begins with them", "dashboard/web/view/controller.js", "const many = 3_000; // objects"},
	{"dashboard.md", "a page that is narrower than 600 pixels", "dashboard/web/view/controller.js", "const narrow = 600; // pixels"},
	{"dashboard.md", "at most once in five seconds", "dashboard/web/view/asking.js", "const pause = 5_000; // milliseconds"},
	{"operations.md", "after the five seconds of `preStop`", "config/manager/manager.yaml", "sleep: {seconds: 5}"},
	{"operations.md", "keep `terminationGracePeriodSeconds` at 30 or more", "config/manager/manager.yaml", "terminationGracePeriodSeconds: 30"},
	{"operations.md", "nine tenths of the limit; the Helm chart does (`memoryShare`)", "charts/graphview/values.yaml", "\nmemoryShare: 90\n"},
	{"install.md", "`failurePolicy` is `Ignore`", "config/webhook/webhook.yaml", "failurePolicy: Ignore"},
	{"install.md", "no replica answers within three seconds", "config/webhook/webhook.yaml", "timeoutSeconds: 3\n"},
	{"headlamp.md", "and into the three largest of others", "client/headlamp/src", "const fewest = 3;"},
	{"headlamp.md", "The map follows four views at most", "client/headlamp/src", "const most = 4;"},
}

// TestTexts: the numbers of the documentation are those of the page, the clients, the chart and the manifests.
func TestTexts(t *testing.T) {
	for _, n := range texts {
		if !says(t, n.page, n.says) {
			t.Errorf("docs/%s does not say %q; %s has %q", n.page, n.says, n.file, n.has)
		}
		var source strings.Builder
		err := filepath.WalkDir(filepath.Join(root, filepath.FromSlash(n.file)), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			source.Write(content)
			return err
		})
		if err != nil || !strings.Contains(source.String(), n.has) {
			t.Errorf("docs/%s says %q; %s lacks %q (%v)", n.page, n.says, n.file, n.has, err)
		}
	}
}

// says reports whether a page of docs has a text, regardless of case and lines.
func says(t *testing.T, page, said string) bool {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(strings.ToLower(strings.Join(strings.Fields(string(content)), " ")), strings.ToLower(said))
}

// TestNumbers: the numbers of the documentation are those of the code.
func TestNumbers(t *testing.T) {
	for _, n := range numbers {
		if !says(t, n.page, n.says) {
			t.Errorf("docs/%s does not say %q; %s of %s is %s", n.page, n.says, n.name, n.file, n.is)
		}
		got := declared(t, n.file, n.name)
		if want := evaluate(t, n.is); !slices.ContainsFunc(got, func(v constant.Value) bool { return constant.Compare(v, token.EQL, want) }) {
			t.Errorf("docs/%s says %q, which is %s; %s of %s is %v", n.page, n.says, n.is, n.name, n.file, got)
		}
	}
}

// declared returns the values that a file gives to a name.
func declared(t *testing.T, file, name string) (values []constant.Value) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, filepath.FromSlash(file)), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	add := func(expression ast.Expr) {
		var text bytes.Buffer
		if err := format.Node(&text, token.NewFileSet(), expression); err != nil {
			t.Fatal(err)
		}
		values = append(values, evaluate(t, text.String()))
	}
	ast.Inspect(parsed, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.ValueSpec:
			for i, declared := range node.Names {
				if declared.Name == name && i < len(node.Values) {
					add(node.Values[i])
				}
			}
		case *ast.KeyValueExpr:
			if key, ok := node.Key.(*ast.Ident); ok && key.Name == name {
				add(node.Value)
			}
		case *ast.CallExpr: // a call of cmp.Or with a field of the name and its default
			if called, ok := node.Fun.(*ast.SelectorExpr); ok && called.Sel.Name == "Or" && len(node.Args) == 2 {
				if field, ok := node.Args[0].(*ast.SelectorExpr); ok && field.Sel.Name == name {
					add(node.Args[1])
				}
			}
		}
		return true
	})
	if len(values) == 0 {
		t.Errorf("%s gives %s no value", file, name)
	}
	return values
}

// durations are the constants of package time, in the order in which they are replaced.
var durations = strings.NewReplacer("time.Millisecond", "1000000", "time.Second", "1000000000", "time.Minute", "60000000000", "time.Hour", "3600000000000")

// evaluate returns the value of a constant expression.
func evaluate(t *testing.T, expression string) constant.Value {
	t.Helper()
	result, err := types.Eval(token.NewFileSet(), nil, token.NoPos, durations.Replace(expression))
	if err != nil || result.Value == nil {
		t.Fatalf("%s is no constant: %v", cmp.Or(expression, "nothing"), err)
	}
	return constant.ToInt(result.Value)
}
