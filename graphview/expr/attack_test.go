//go:build !race

package expr

import (
	"runtime"
	"strings"
	"testing"
)

// maxMade is the bound on the bytes that one evaluation allocates: twice its charged cost,
// and a few values of CEL for each step, which are bounded but not charged.
const maxMade = 3 * bytesMade * CostLimit

// attacks ask for gigabytes or hours, or did: most of them came to an end only with
// the process. %-signs are theirs.
func attacks() map[string]string {
	repeat := strings.Repeat
	part, long := repeat("x", 1000), repeat("y", 4000)
	shared := "[[1]]" + repeat(".map(x,dyn([x,x]))", 60)
	pad := "[0" + repeat(",0", 32) + "]"
	// over evaluates something often, with l as a large value.
	over := func(value, call string) string {
		return "[" + value + "].all(l, lists.range(9999).map(i, " + call + ").size()>0)"
	}
	text := "lists.range(1000).map(i,'" + part + "').join()"
	wide := func(call string) string {
		return strings.NewReplacer("A", "lists.range(2000).map(i,"+pad+"+[i])", "B", "lists.range(2000).map(i,"+pad+"+[i+100000])").Replace(call)
	}
	return map[string]string{
		// Expressions from the security review.
		"replace":             "lists.range(1000).map(i,'" + part + "'.replace('x','" + long + "')).size()>0",
		"replace, long":       "['" + part + "'.replace('x','" + long + "')].all(s, lists.range(1000).map(i,s.replace('y','z')).size()>0)",
		"format":              over("lists.range(1000).map(i,'"+long+"')", "'%s'.format([l])"),
		"format, shared":      "'%s'.format([" + shared + "])==''",
		"join":                over("lists.range(1000).map(i,'"+long+"')", "l.join()"),
		"findAll, empty":      over(text, "l.findAll('')"),
		"flatten, shared":     shared + ".flatten(60).size()>0",
		"flatten, references": "[lists.range(10000)].all(x, lists.range(400).map(i,x).flatten().size()>0)",
		"optional, shared":    "[[1]]" + repeat(".map(x,dyn([optional.of(x),optional.of(x)]))", 40) + ".all(v, v==v)",
		"optional, in":        "[[1]]" + repeat(".map(x,dyn([optional.of(x),optional.of(x)]))", 40) + ".all(v, v in [v])",
		"shared, compared":    shared + ".all(v, v==v)",
		"shared, sets":        "[" + shared + "].all(v, sets.contains(v,v))",
		"sets.contains":       wide("sets.contains(A,B)"),
		"sets.intersects":     wide("sets.intersects(A,B)"),
		"sets.equivalent":     wide("sets.equivalent(A,B)"),
		"distinct":            wide("A.distinct().size()>0"),
		"indexOf, lists":      wide("A.indexOf([-1])>0"),
		"split":               over(text, "l.split('')"),
		"upperAscii":          over(text, "l.upperAscii()"),
		"quote":               over(text, "strings.quote(l)"),
		"bytes":               over(text, "bytes(l)"),
		"reverse":             over("lists.range(10000)", "l.reverse()"),
		"slice":               over("lists.range(10000)", "l.slice(0,10000)"),
		"sort":                over("lists.range(10000)", "l.sort()"),
		"sortBy":              over("lists.range(10000)", "l.sortBy(e,-e)"),
		"range":               "lists.range(10000).map(i,lists.range(10000)).size()>0",
		"regex, computed":     over(text, "l.matches('(x+x+)+y'+string(i))"),
		"url":                 over(text, "isURL('http://a/'+l)"),
		"quantity":            over("lists.range(300).map(i,'111111111111111111111111111111111').join()", "isQuantity(l)"),
		"semver":              over(text, "isSemver('1.2.3-'+l)"),
		"format.validate":     over(text, "format.dns1123Subdomain().validate(l)"),
		"transformMapEntry":   over("lists.range(10000)", "l.transformMapEntry(a,b,{string(b):l})"),

		// Loops whose turns cost CEL nothing.
		"free turns":        "[lists.range(10000)].all(r, r.filter(x, r.filter(y, r.filter(z, false)==[])==[])==[])",
		"free turns of map": "obj.many.all(a, obj.many.filter(b, false) == [])",
		// Lists of constants and one variable, made again in each turn.
		"wide literals":     "lists.range(10000).all(i, [i" + repeat(",0", 4000) + "].size()>0)",
		"wide map literals": "lists.range(10000).all(i, {'b':i" + repeat(",'a':0", 1000) + "}.size()>0)",
		// A loop over a map gathers its keys, also where it ends at once.
		"keys":                "lists.range(10000).all(i, obj.wide.exists(k, true))",
		"size of text":        "lists.range(10000).all(i, obj.text.size()>0)",
		"text as key":         "lists.range(10000).all(i, !(obj.text in obj.wide))",
		"text as index":       "lists.range(10000).all(i, obj.wide[?obj.text]==optional.none())",
		"text in constants":   "lists.range(10000).all(i, !(obj.text in ['a','b']))",
		"text compared":       "lists.range(10000).all(i, obj.text + 'a' < obj.text + 'b')",
		"sum of texts":        "lists.range(10000).all(i, (obj.text + obj.text).size()>0)",
		"texts without loops": "[" + repeat("obj.text.replace('x','yy'),", 300) + "''].size()>0",
		"sorted texts":        "lists.range(10000).map(i, obj.text).sort().size()>0",
		"min of texts":        "lists.range(10000).map(i, obj.text).min()==''",
		"doubled lists":       "[[1]]" + repeat(".map(a, a + a)", 60) + ".all(z, z.size()>0)",
		"deep sums":           "[[1]]" + repeat(".map(a, a+[1]+[1]+[1]+[1]+[1]+[1])", 90) + ".all(a, lists.range(10000).all(i, a.all(x, x==1)))",
		"shared as key":       "[" + shared + "].all(v, {'a': 1}[dyn(v)] == 1)",
		"shared in a map":     "[" + shared + "].all(v, {dyn(v): 1}.size() == 1)",
		"shared as optional":  "[" + shared + "].all(v, [?optional.of(v)].all(w, w==w))",
		"objects compared":    repeat("obj == dyn(obj) && ", 400) + "true",
		"time zones":          "lists.range(10000).all(i, timestamp('2020-01-01T00:00:00Z').getHours('Europe/Berlin')>=0)",
		"large exponents":     "quantity('1e999999999').add(quantity('1e-999999999')).asInteger()==1",
		"numbers of text":     "lists.range(10000).all(i, double(obj.text)>0.0)",
		"constant regex":      "lists.range(10000).all(i, obj.text.matches('(a|x)*(b|x)*y'))",
		"messages of keys":    "{'a': 1}[obj.text] == 1",
		"getQuery":            "lists.range(10000).all(i, url('http://a/?' + '" + repeat("a=b&", 1000) + "').getQuery().size()>0)",
		"unwrap":              "lists.range(10000).all(i, optional.unwrap(lists.range(10000).map(x, optional.of(x))).size()>0)",
		"format of fractions": "lists.range(9999).all(i, ('" + repeat("%.100f", 300) + "').format([" + repeat("1e300,", 299) + "1e300]).size()>0)",
		"lastIndexOf":         "lists.range(10000).all(i, obj.text.lastIndexOf(obj.text.substring(1000)+'y')<0)",
		"substring":           "lists.range(10000).all(i, obj.text.substring(1).size()>0)",
		"transformMap":        "lists.range(10000).all(i, obj.wide.transformMap(k, v, v).size()>0)",
		"list of lists in":    wide("A.all(a, !(a in B))"),
	}
}

// hostile is a large object.
func hostile() map[string]any {
	wide, many := make(map[string]any), make([]any, 10_000)
	for i := range many {
		many[i] = "item"
		wide[strings.Repeat("k", i%50)+string(rune('a'+i%26))+strings.Repeat("z", i%97)] = int64(i)
	}
	return map[string]any{"metadata": map[string]any{"name": "b"}, "wide": wide, "many": many, "text": strings.Repeat("x", 1_000_000)}
}

// Not parallel: what others allocate would count.
func TestAttacks(t *testing.T) {
	object := hostile()
	for name, text := range attacks() {
		t.Run(name, func(t *testing.T) {
			selector, err := CompileObject(t.Context(), nil, text)
			if err != nil {
				t.Fatal(err)
			}
			in := &Input{Version: "v1", Resource: "configmaps", Namespace: "a", Name: "b", Object: func() (map[string]any, error) { return object, nil }}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err = selector.Matches(t.Context(), in)
			runtime.ReadMemStats(&after)
			if made := after.TotalAlloc - before.TotalAlloc; made > maxMade {
				t.Errorf("%d bytes were made at a cost of %d: %v", made, in.Cost, err)
			}
			if in.Cost == 0 || in.Cost > CostLimit {
				t.Errorf("cost %d is charged", in.Cost)
			}
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

// maxRefused bounds the bytes that the compilation of a refused expression allocates, and maxCompiled those of any other.
const maxRefused, maxCompiled = 64 << 20, 256 << 20

// TestCompileAttacks: an expression that would take long to compile is refused early. The test
// counts allocations, which do not depend on the load of the machine.
func TestCompileAttacks(t *testing.T) {
	repeat := strings.Repeat
	fill := func(unit, separator string) string {
		return unit + repeat(separator+unit, (MaxTextLength-30)/(len(unit)+len(separator))-1)
	}
	list := func(unit string) string {
		n := (MaxTextLength - 30) / (len(unit) + 1)
		return "[" + unit + repeat(","+unit, n-1) + "].size() == 0"
	}
	for name, tc := range map[string]struct{ text, want string }{
		"too long":             {repeat("a", MaxTextLength+1), "expression of 10241 bytes is too long; at most 10240 are allowed"},
		"parentheses":          {repeat("(", 4000) + "1" + repeat(")", 4000), "nests too deeply; at most 100 levels"},
		"open parentheses":     {repeat("(", MaxTextLength), "nests too deeply"},
		"brackets":             {repeat("[", 4000) + repeat("]", 4000), "nests too deeply"},
		"braces":               {repeat("{1:", 3000), "nests too deeply"},
		"conditionals":         {repeat("true?1:", 1000) + "1", "nests too deeply"},
		"calls":                {repeat("size(", 1500) + "1" + repeat(")", 1500), "nests too deeply"},
		"selections":           {"obj" + repeat(".a", 5000), "nests too deeply"},
		"indexes":              {"obj" + repeat("[0]", 3000), "nests too deeply"},
		"sums":                 {repeat("1+", 5000) + "1", "nests too deeply"},
		"relations":            {repeat("obj==", 1500) + "1", "nests too deeply"},
		"quotes":               {repeat("'", MaxTextLength), "lookahead limit exceeded"},
		"garbage":              {repeat("a b(,", 2000), "lookahead limit exceeded"},
		"negations":            {repeat("!", MaxTextLength), "syntax error"},
		"optMap":               {"optional.of(1)" + repeat(".optMap(x,x)", 30) + ".hasValue()", "optMap() and optFlatMap() make the expression too large"},
		"optFlatMap":           {"optional.of(1)" + repeat(".optFlatMap(x,optional.of(x))", 20) + ".hasValue()", "optMap() and optFlatMap() make the expression too large"},
		"many optMap":          {list("optional.of(1).optMap(x,x)"), "optMap() and optFlatMap() make the expression too large"},
		"deep lists":           {list(repeat("[", 90) + "1" + repeat("]", 90)), "too many lists and maps; at most 2000"},
		"nested loops":         {list(repeat("[1].map(x,", 20) + "1" + repeat(")", 20)), "too many loops such as all() and map(); at most 100"},
		"sortBy":               {list("[1].sortBy(x,x)"), "too many loops"},
		"regex":                {"name.matches('" + repeat("(a{1000})", 1000) + "')", "regular expressions are too large"},
		"many regexes":         {list("name.matches('(a{900})')"), "regular expressions are too large"},
		"regex of find":        {"name.find('" + repeat("(a{1000})", 1000) + "') == ''", "regular expressions are too large"},
		"types that double":    {"[{1:1}]" + repeat(".map(x,{x:x})", 24) + ".size()>0", "nest too deeply in each other"},
		"in two variables":     {"{1:1}" + repeat(".transformMap(k,v,{k:{v:v}})", 24) + ".size()>0", "nest too deeply in each other"},
		"in optionals":         {"optional.of({1:1})" + repeat(".optMap(x,{x:x})", 6) + ".hasValue()", "too large, since they copy"},
		"in conditions":        {"[{1:1}]" + repeat(".map(x,true?{x:x}:{x:x})", 24) + ".size()>0", "nest too deeply in each other"},
		"in entries":           {"{1:1}" + repeat(".transformMapEntry(k,v,{k:{v:v}})", 40) + ".size()>0", "nest too deeply in each other"},
		"in filters":           {"[{1:1}]" + repeat(".map(x,true,{x:x})", 24) + ".size()>0", "nest too deeply in each other"},
		"in nested loops":      {repeat("[{1:1}].map(x,{x:", 24) + "x" + repeat("})", 24) + ".size()>0", "nest too deeply in each other"},
		"in types":             {repeat("type([", 40) + "1" + repeat("])", 40) + "==1", "nest too deeply in each other"},
		"lists in lists":       {repeat("[", 40) + repeat("]", 40) + ".size()>0", "nest too deeply in each other"},
		"filled indexes":       {fill("obj[name]", "&&"), "too many operators and functions that take any type"},
		"empty lists":          {fill("[[]].flatten()==[]", "||"), "too many operators and functions that take any type"},
		"comparisons of types": {fill("type([[]])==type([])", "||"), "too many operators and functions that take any type"},
		"memberships":          {fill("name in ['a']", "||"), "too many operators and functions that take any type"},
		"equality":             {fill("name==name", "||"), ""},
		"a message":            {"google.protobuf.Value{list_value: google.protobuf.ListValue{values: [1]}} != null", "cannot make messages"},
		"a dynamic optional":   {"[?dyn(1)].size()==1", "what follows ? in a list or map must be an optional value"},
		"a wrapper":            {"google.protobuf.StringValue{value: 'a'} == 'a'", "cannot make messages"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := CompileObject(t.Context(), nil, tc.text)
			runtime.ReadMemStats(&after)
			got, most := message(t, err), maxRefused
			if tc.want == "" {
				most = maxCompiled
			}
			if (tc.want == "") != (err == nil) || !strings.Contains(got, tc.want) || len(got) > 2000 {
				t.Errorf("error %q, want %q", got, tc.want)
			}
			if made := after.TotalAlloc - before.TotalAlloc; made > uint64(most) {
				t.Errorf("%d bytes were made", made)
			}
		})
	}
}
