package yaql

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

// hooks lists functions registered by the reference that expressions never call.
var hooks = []string{"#finalize", "#iter"}

// declaredOtherwise lists signatures of the reference that differ in this package: defaults written as time spans, and
// an operator with any number of operands.
var declaredOtherwise = []string{
	"#operator_+(*)", `datetime(timestamp, offset="0:00:00")`, `now(offset="0:00:00")`,
	`datetime(year, month, day, hour=0, minute=0, second=0, microsecond=0, offset="0:00:00")`,
}

// signature formats the signature of a function as testdata/reference.py does.
func signature(f *Function) string {
	var params []string
	describe := func(p *Param) {
		s := p.Name
		if strings.HasPrefix(f.Name, "#") || strings.HasPrefix(f.Name, "*") {
			s = "_"
		}
		if p.optional {
			text, err := AppendJSON(nil, p.value)
			switch {
			case err != nil:
				text = []byte("unset")
			case text[0] == '"':
				text = []byte("text")
			}
			s += "=" + string(text)
		}
		params = append(params, s)
	}
	for i := range f.Params {
		describe(&f.Params[i])
	}
	if f.Rest != nil {
		params = append(params, "*")
	}
	for i := range f.Keyword {
		describe(&f.Keyword[i])
	}
	if f.Others != nil {
		params = append(params, "**")
	}
	s := f.Name + "(" + strings.Join(params, ", ") + ")"
	for flag, set := range map[string]bool{" method": f.Method && !f.Plain, " extension": f.Method && f.Plain} {
		if set {
			s += flag
		}
	}
	if f.NoKeywords {
		s += " without keywords"
	}
	return s
}

func TestFunctions(t *testing.T) {
	ref := startReference(t)
	var functions [][2]string // module and signature
	must.Do(t, json.Unmarshal([]byte(ref.ask(map[string]any{"functions": true}).Value), &functions))
	count := map[string]int{}
	for _, f := range Standard(true).Functions() {
		count[signature(f)]++
	}
	if len(functions) < 250 {
		t.Fatalf("the reference lists %d functions, want at least 250", len(functions))
	}
	for _, f := range functions {
		name, _, _ := strings.Cut(f[1], "(")
		if slices.Contains(hooks, name) || f[0] == "specs" || slices.Contains(declaredOtherwise, f[1]) {
			continue
		}
		if count[f[1]] == 0 {
			t.Errorf("module %s: function %s is missing", f[0], f[1])
		}
		count[f[1]]--
	}
}

// collections lists values of all types except strings, which have their own overloads. Some are empty, nested, or
// mixed, or contain duplicates.
var collections = []string{
	"[]", "[1]", "[3, 1, 2]", "[1, 2, 2, 1]", "[a, bb, c]", "[1, a, null]", "[[1, 2], [3], []]", "[1, 1.0, true, 0]",
	"[{a => 2}, {a => 1}]", "[3, 1, 2].select($ * 2)", "[].where(true)", "range(5)", "[5, 3].orderBy($)", "set(7)", "set()",
	"{a => 1, b => [2]}", "{}", "{a => 1}.keys()", "{a => 1, b => 1}.values()", "{a => 1, 2 => b}.items()",
	"[1, 2].enumerate()", "[2, 1].memorize()", "{a => 1}.delete(b)", "null", "5", "1.5", "true", "[2.5, -1, 0.5]",
	"[[a, 1], [b, 2], [a, 3]]", "[null, null]", "list(1, [2])", "let(1)", "[9223372036854775807, 10000000000000000000]",
}

// templates lists expressions that use all functions. % is replaced by a collection, and @ by another one.
var templates = []string{
	// Collections.
	"list(%, 1)", "list(%, @)", "%.toList()", "%.toList().len()", "%.flatten()", "%[0]", "%[-1]", "%[a]", "%[a, 0]", "% + @", "% * 2", "2 * %",
	"% * -1", "1 in %", "[1] in %", "% in %", "%.contains(2)", "%.contains(@)", "isList(%)", "isDict(%)", "isSet(%)", "isIterable(%)", "len(%)",
	"%.len()", "%.delete(0)", "%.delete(1, 2)", "%.delete(1, -1)", "%.delete(-1)", "%.delete(a)", "%.delete(b, x, a)", "%.delete(@)",
	"%.replace(0, x)", "%.replace(1, x, 2)", "%.replace(1, x, -1)", "%.replace(0, x, 0)", "%.replaceMany(0, [x, y])", "%.replaceMany(1, @, 2)",
	"%.replaceMany(0, [], -1)", "%.insert(0, x)", "%.insert(1, [])", "%.insert(-1, x)", "%.insert(99, x)", "%.insert(10000000000000000000, x)",
	"%.insertMany(1, @)", "%.insertMany(-1, [x, y])", "%.insertMany(9, [x])", "% = @", "% != %", "isBoolean(%)", "bool(%)", "not %",
	// Dictionaries.
	"dict(%)", "dict(x => %)", "{% => 1}", "{x => %}.x", "%.toDict($)", "%.toDict($, 1)", "%.toDict($[0], $[1])", "%.toDict(@)", "%.a", "%.get(a)",
	"%.get(x, @)", "%.get([])", "%.set(a, 2)", "%.set(x => 1, a => 3)", "%.set({z => 1, a => 2})", "%.set(@)", "%.set()", "%.set(%, 1)", "%.keys()",
	"%.values()", "%.items()", "%.keys().len()", "%.values().len()", "%.containsKey(a)", "%.containsKey(@)", "%.containsValue(1)",
	"%.containsValue(@)", "%.deleteAll([a, x])", "%.deleteAll(@)", "%.mergeWith({a => 5, c => 6})", "%.mergeWith(@)", "@.mergeWith(%, $1)",
	"{x => %}.mergeWith({x => @})", "{x => %}.mergeWith({x => @}, $2 + $1, $1)", "{x => %}.mergeWith({x => @}, maxLevels => 1)",
	"{x => {y => %}}.mergeWith({x => {y => @}}, maxLevels => 2)", "{x => {y => {z => 1}}}.mergeWith({x => {y => {w => %}}}, maxLevels => 3)",
	"{x => 1}.mergeWith({x => 2}, null, [$1, $2, %])", "%.keys() < @.keys()", "%.keys() = @.keys()", "%.items() = %.items()", "%.values() = %.values()",
	"a in %.keys()", "[a, 1] in %.items()", "%.keys() + @.keys()", "%.keys().toSet() - set(a)", "%.keys().union(set(a))", "set(a).union(%.keys())",
	"{%.keys() => 1}", "set(%.items())", "%.items().toSet()", "{x => % + @}", "%.keys() >= set(a)", "set(a) = %.keys()", "%.values().toList()",
	// Sets.
	"%.toSet()", "set(%)", "set(%, 1)", "set(%) = set(%)", "%.union(@)", "%.intersect(@)", "%.difference(@)", "%.symmetricDifference(@)", "% - @",
	"%.add(7, @)", "%.remove(7)", "%.remove(@)", "% < @", "% <= @", "% > @", "% >= @", "%.toSet() < set(1, 2, 3)", "%.toSet() >= set(1)",
	"%.toSet().union(set(1, a))", "%.toSet().intersect(set(1, a))", "%.toSet() - set(1, a)", "%.toSet().symmetricDifference(set(1, a))",
	"%.toSet().add(1)", "%.toSet().len()", "isSet(%.toSet())", "set(%.toSet())", "1 in %.toSet()", "[] in %.toSet()", "%.toSet() = @.toSet()",
	// Queries.
	"%.where($)", "%.where(null)", "%.filter($ > 1)", "%.select([$])", "%.map($ + 1)", "%.selectMany([$, $])", "%.selectMany(@)", "%.selectMany($)",
	"%.skip(1)", "%.skip(-1)", "%.skip(true)", "%.skip(10000000000000000000)", "%.limit(2)", "%.take(1)", "%.take(-1)", "%.take(null)", "%.take(0)",
	"%.takeWhile($)", "%.takeWhile($ > 1)", "%.skipWhile($)", "%.skipWhile($ > 1)", "%.append(1, @)", "append(%)", "concat(%, @)", "%.concat([1], @)",
	"%.distinct()", "%.distinct($ > 1)", "%.distinct(@)", "distinct(%, $)", "%.enumerate()", "%.enumerate(true)", "%.enumerate(null)",
	"enumerate(%, 10000000000000000000)", "%.reverse()", "%.memorize()", "let(%.memorize()) -> [$, $]", "let(%) -> [$.toList(), $.toList()]",
	"%.defaultIfEmpty([7])", "%.defaultIfEmpty(@)", "%.any()", "%.any($)", "%.any($ = 1)", "%.all()", "%.all($)", "%.all(null)", "all(%, $ > 0)",
	"%.count()", "%.first()", "%.first(@)", "%.last()", "%.last(@)", "%.last(null)", "%.single()", "%.indexOf(1)", "%.indexOf(@)", "%.lastIndexOf(1)",
	"%.lastIndexOf(null)", "%.indexWhere($)", "%.indexWhere($ = 2)", "%.lastIndexWhere($)", "%.lastIndexWhere($ = 2)", "%.sum()", "%.sum(1)", "%.sum(@)",
	"%.sum(null)", "%.aggregate([$1, $2])", "%.aggregate($1 + $2, 0)", "%.reduce($2)", "%.reduce($1, @)", "%.accumulate($1 + $2)",
	"%.accumulate([$1, $2], @)", "%.accumulate($2, null)", "let(%) -> [$.take(1).toList(), $.toList()]", "%.a.len()", "%?.len()",
	// Generators.
	"range(%)", "range(1, %)", "range(5, 0, -2)", "range(0, 5, %)", "sequence(%).take(3)", "sequence(1, %).take(3)", "%.repeat(2)", "%.repeat().take(2)",
	"%.repeat(-3).take(1)", "a.repeat(%)", "%.cycle().take(7)", "generate(%, $ < 9, $ + 3)", "generate(1, true, (3 * $) mod 7, [$, %], true)",
	"generate(%, true, @, decycle => true)", "generate([1], $.len() < 4, $ + [%])", "generate(1, $ < 5, $ + 1, decycle => %)",
	"generateMany(1, %.where($ > 5))", "generateMany(%, $)", "generateMany(1, switch($ < 20 => [$ * 2, $ * 3], true => []))",
	"generateMany(1, switch($ < 20 => [$ * 2, $ * 3], true => []), depthFirst => true)", "generateMany(0, [($ + 1) mod 5, ($ + 3) mod 7], decycle => true)",
	"generateMany(0, [($ + 1) mod 5, ($ + 3) mod 7], -$, true, true)", "generateMany(%, @, decycle => true)", "generateMany(a, switch($ = a => %, true => []))",
	// Order.
	"%.orderBy($)", "%.orderByDescending($)", "%.orderBy($ > 1)", "%.orderBy(1).thenBy($)", "%.orderBy(1).thenByDescending($)", "%.orderBy(@)", "%.orderBy(-$)",
	"%.thenBy($)", "%.orderBy($[0]).thenByDescending($[1])", "%.orderBy($[0], $[1])", "%.orderBy($.a)", "%.orderBy($).first()", "%.orderBy($).len()",
	"%.orderBy($).count()", "%.orderBy($).reverse()", "let(%.orderBy(1)) -> [$.thenBy(-$), $]", "let(%.orderBy($)) -> [$.toList(), $.toList()]",
	"isList(%.orderBy($))", "%.orderBy($) + @", "%.orderBy($).thenBy(1).toSet()", "list(%.orderBy($))",
	// Groups.
	"%.groupBy($)", "%.groupBy($ > 1)", "%.groupBy($, 1)", "%.groupBy($[0], $[1])", "%.groupBy($[0], $[1], $.sum())", "%.groupBy($[0], $[1], [$[0], $[1].sum()])",
	"%.groupBy($, aggregator => $.len())", "%.groupBy($, aggregator => [$[0], $[1].len()])", "%.groupBy(1, $, $[1])", "%.groupBy($, $, $[1].len())", "%.groupBy(1, $, ab)",
	"%.groupBy(1, $, $.foo)", "%.groupBy($ = 1, $, [$[0], $[1]])", "%.groupBy($ = 1, $, [$[0], $[1].len()])", "%.groupBy(@)", "%.groupBy($[5])", "%.groupBy(1).toDict($[0], $[1])",
	"%.join(@, true, [$1, $2])", "%.join([1, 2], $1 = $2, $1)", "%.join([1, 2], $1 > $2, $1 - $2)", "%.zip(@)", "%.zip(@, [1])", "%.zip()", "%.zipLongest(@)",
	"%.zipLongest(@, [1], default => 0)", "%.zipLongest(@, fill => 0)", "%.slice(2)", "%.slice(0)", "%.slice(-1)", "%.slice(1).first()", "%.splitAt(1)", "%.splitAt(-1)",
	"%.splitAt(99)", "%.splitAt(-99)", "%.splitAt(null)", "%.splitWhere($)", "%.splitWhere($ = 1)", "%.splitWhere(null)", "%.sliceWhere($)", "%.sliceWhere($ = 1)", "%.sliceWhere($ > 1)",
	// Branching.
	"switch(% => 1, @ => 2)", "switch(false => 1 / 0, true => %)", "switch(% > 1 => a)", "switch(%)", "selectCase(%, true)", "selectCase(null, 1 > 2, %)", "selectCase()",
	"selectAllCases(%, @, 1)", "examine(%, 1 > 2, @)", "%.switchCase(a, b, c)", "1.switchCase(1 / 0, %)", "7.switchCase(a, %)", "(-1).switchCase(a, b)", "true.switchCase()",
	"10000000000000000000.switchCase(a, %)", "coalesce(null, %, 1 / 0)", "coalesce()", "coalesce(%, @)", "% and @", "% or @",
	// System.
	"with(%, @) -> [$2, $1]", "let(%, x => @) -> [$, $x]", "def(f, [$, $2, $x]) -> f(%, @, x => 1)", "def(f, switch($ < 2 => 1, true => $ * f($ - 1))) -> f(%)",
	"%.unpack() -> [$1, $2]", "%.unpack(a, b) -> [$a, $b]", "%.unpack(a) -> $a", "%.assert($)", "%.assert($, x)", "%.assert($.len() > 1)", "% -> 1", "%?.a",
	"call(len, [%], {})", "call(take, [1], {}, %)", "call(where, [%], {}, [1, 2])", "call(let, %, {}) -> $", "call(let, [1], %) -> $a", "call(distinct, [], {keySelector => 1}, %)",
	"call(def, [f, null], {}) -> f()", "call('#operator_and', [null, %], {})", "call('#operator_.', [%, null], {})", "call(select, [null], {}, %)", "call(len, [], {}, null)",
	"let(f => lambda([$, %])) -> $f(@)", "lambda($)", "%.select(lambda($))", "(lambda($ + 1))(%)", "let(f => %) -> $f(1)", "call(select, [lambda([$])], {}, %)",
}

// TestStandardLibrary evaluates the templates and compares the results with the reference. It uses only some of the
// collections unless YAQL_ITERATIONS is high.
func TestStandardLibrary(t *testing.T) {
	ref := startReference(t)
	opts := DefaultOptions()
	opts.Delegates, opts.ConvertOutputData = true, false
	opts.LimitIterators, opts.MemoryQuota = 300, 1_000_000
	seed := randomSeed()
	random := rand.New(rand.NewPCG(seed, 3))
	var values, failures, skipped int
	for _, template := range templates {
		for range iterations(1) {
			source := strings.NewReplacer("%", collections[random.IntN(len(collections))],
				"@", collections[random.IntN(len(collections))]).Replace(template)
			want := ref.ask(map[string]any{
				"expression": source, "delegates": true,
				"options": map[string]any{"limitIterators": opts.LimitIterators, "memoryQuota": opts.MemoryQuota},
			})
			got, kind, err := evaluateEncoded(t, source, nil, opts)
			switch {
			case kind == kinds[want.Error] && got == want.Value && err == nil:
				values++
			case kind == kinds[want.Error] && got == want.Value:
				failures++
			case kind == Limit || kinds[want.Error] == Limit || deliberate(source, want, kind, err, opts):
				skipped++
			default:
				t.Errorf("Evaluate(%s) =\n%.200s%v\nwant\n%.200s%s %s", source, got, orNothing(err), want.Value, want.Error, want.Message)
			}
		}
	}
	t.Logf("%d values, %d errors, %d skipped", values, failures, skipped)
	if values+failures < 10*skipped || values < failures/2 {
		t.Errorf("%d values, %d errors, and %d skipped are too few comparisons", values, failures, skipped)
	}
}
