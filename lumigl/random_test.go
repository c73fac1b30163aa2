package lumigl_test

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/must"
)

var operations = []lumigl.OperationKind{lumigl.CreateOperation, lumigl.UpdateOperation, lumigl.DeleteOperation}

// texts generates strings of arbitrary characters, with a bias toward special ones.
var texts = rapid.OneOf(
	rapid.String(),
	rapid.StringMatching(`[\x00-\x1f"\\/~ -~é→𝄞\x{2028}\x{7f}\x{fffd}\x{feff}]{0,8}`),
	rapid.SampledFrom([]string{"", "#ref", "#ref2", "property", "resources", "ref", "4dabf18193072939515e22adb298388d"}),
)

// literals generates JSON numbers in arbitrary notation.
var literals = rapid.StringMatching(`-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?`)

// values generates values with references to targets.
func values(t *rapid.T, targets []*lumigl.Vertex, depth int) lumigl.Value {
	kinds := 8
	if depth == 0 {
		kinds = 6
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return lumigl.NullValue()
	case 1:
		return lumigl.BoolOf(rapid.Bool().Draw(t, "bool"))
	case 2:
		n, ok := lumigl.NumberOf(literals.Draw(t, "literal"))
		if !ok {
			t.Fatal("NumberOf returned false for a valid literal")
		}
		return n
	case 3:
		v, _ := lumigl.FloatOf(rapid.Float64().Draw(t, "float"))
		return v
	case 4:
		return lumigl.TextOf(texts.Draw(t, "text"))
	case 5:
		if len(targets) == 0 {
			return lumigl.IntOf(rapid.Int64().Draw(t, "int"))
		}
		return lumigl.PropertyOf(rapid.SampledFrom(targets).Draw(t, "target"), texts.Draw(t, "property"))
	case 6:
		elements := make([]lumigl.Value, rapid.IntRange(0, 3).Draw(t, "length"))
		for i := range elements {
			elements[i] = values(t, targets, depth-1)
		}
		return lumigl.ListOf(elements...)
	default:
		return object(t, targets, depth)
	}
}

func object(t *rapid.T, targets []*lumigl.Vertex, depth int) lumigl.Value {
	var members []lumigl.Member
	for _, key := range rapid.SliceOfNDistinct(texts, 0, 4, rapid.ID).Draw(t, "keys") {
		members = append(members, lumigl.Member{Key: key, Value: values(t, targets, max(0, depth-1))})
	}
	return lumigl.ObjectOf(members...)
}

// maybe returns draw() or the absent value.
func maybe(t *rapid.T, draw func() lumigl.Value) lumigl.Value {
	if rapid.Bool().Draw(t, "absent") {
		return lumigl.Value{}
	}
	return draw()
}

// fields generates top-level fields that have no predefined meaning.
func fields(t *rapid.T) []lumigl.Member {
	var all []lumigl.Member
	for _, key := range rapid.SliceOfNDistinct(texts, 0, 3, rapid.ID).Draw(t, "fields") {
		switch key {
		case "ref", "vertices", "resources":
		default:
			all = append(all, lumigl.Member{Key: key, Value: values(t, nil, 2)})
		}
	}
	return all
}

func tag(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "", "#ref", "@@r", "\n"}).Draw(t, "tag")
}

func randomGraph(t *rapid.T) *lumigl.Graph {
	g := &lumigl.Graph{Tag: tag(t), Fields: fields(t)}
	var all []*lumigl.Vertex
	for _, key := range rapid.SliceOfNDistinct(texts, 0, 6, rapid.ID).Draw(t, "vertices") {
		v := must.Get(g.Add(key))(t)
		all = append(all, v)
	}
	for _, v := range all {
		v.Properties = maybe(t, func() lumigl.Value { return object(t, all, 4) })
	}
	return g
}

func resourceURN(n int) urn.URN {
	return urn.URN(fmt.Sprintf("urn:lumi:prod::shop:index::t:m:T%d::%d", n%3, n))
}

// randomSnapshot generates a snapshot with resources in random order.
func randomSnapshot(t *rapid.T) *lumigl.Snapshot {
	s := &lumigl.Snapshot{
		Package: rapid.SampledFrom([]string{"", "shop", "\u2028"}).Draw(t, "package"),
		Lineage: rapid.SampledFrom([]string{"", "l"}).Draw(t, "lineage"),
		Serial:  rapid.Uint64().Draw(t, "serial"),
		Args:    maybe(t, func() lumigl.Value { return object(t, nil, 3) }),
	}
	s.Tag, s.Fields = tag(t), fields(t)
	ids := rapid.SliceOfNDistinct(rapid.IntRange(0, 30), 0, 10, rapid.ID).Draw(t, "resources")
	var all []*lumigl.Vertex
	for _, id := range ids {
		r := must.Get(s.Add(resourceURN(id)))(t)
		all = append(all, r)
	}
	// Dependencies follow all, so they are independent of the order of insertion.
	order := rapid.Permutation(all).Draw(t, "order")
	for i, r := range order {
		fill(t, r, order[:i])
	}
	for range rapid.IntRange(0, 2).Draw(t, "deletes") {
		s.Pending.Deletes = append(s.Pending.Deletes, pending(t, all))
	}
	for range rapid.IntRange(0, 2).Draw(t, "operations") {
		s.Pending.Operations = append(s.Pending.Operations, lumigl.Operation{
			Kind:     rapid.SampledFrom(operations).Draw(t, "operation"),
			Resource: pending(t, all),
		})
	}
	return s
}

func fill(t *rapid.T, r *lumigl.Vertex, targets []*lumigl.Vertex) {
	r.ID = rapid.SampledFrom([]string{"", "id-1", "\x00"}).Draw(t, "id")
	r.Options = maybe(t, func() lumigl.Value { return options(t, targets) })
	r.Source = rapid.SampledFrom([]string{"", "main.ts:1:1", "a b/é:x.ts:12:9"}).Draw(t, "source")
	r.Properties = maybe(t, func() lumigl.Value { return object(t, targets, 3) })
	r.Extensions = maybe(t, func() lumigl.Value { return object(t, nil, 2) })
}

// options generates options that are not set to their defaults.
func options(t *rapid.T, targets []*lumigl.Vertex) lumigl.Value {
	text := func(values ...string) lumigl.Value { return lumigl.TextOf(rapid.SampledFrom(values).Draw(t, "text")) }
	all := map[string]lumigl.Value{
		"aliases":          lumigl.ListOf(text("old", "a/b", string(resourceURN(1)))),
		"import":           text("id", "\x00"),
		"protect":          lumigl.BoolOf(true),
		"ignoreChanges":    lumigl.ListOf(text("a", `tags["a b"].x`, "a[*].b[0]"), text("b", "[*]")),
		"replaceOnChanges": lumigl.ListOf(text("a.b.c", `["]"]`)),
		"timeouts":         lumigl.ObjectOf(pair(rapid.SampledFrom([]string{"create", "delete"}).Draw(t, "timeout"), text("90s", "1h1m"))),
	}
	if len(targets) > 0 {
		all["dependsOn"] = lumigl.ListOf(lumigl.ReferenceTo(rapid.SampledFrom(targets).Draw(t, "dependency")))
	}
	var members []lumigl.Member
	for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom(slices.Sorted(maps.Keys(all))), 1, 4, rapid.ID).Draw(t, "options") {
		members = append(members, pair(key, all[key]))
	}
	return lumigl.ObjectOf(members...)
}

func pending(t *rapid.T, targets []*lumigl.Vertex) *lumigl.Vertex {
	r := must.Get(lumigl.NewResource(resourceURN(rapid.IntRange(0, 40).Draw(t, "pending"))))(t)
	fill(t, r, targets)
	return r
}

// alike fails unless two documents are equal. The order of resources in a snapshot does not matter.
func alike(t *rapid.T, a, b lumigl.Document) {
	if problem := difference(a, b); problem != "" {
		t.Fatal(problem)
	}
}

func difference(a, b lumigl.Document) string {
	g, h := a.Base(), b.Base()
	if g.Len() != h.Len() {
		return fmt.Sprintf("%d vertices became %d", g.Len(), h.Len())
	}
	for v := range g.Vertices() {
		if problem := vertexDifference(v, h.Vertex(v.Key())); problem != "" {
			return problem
		}
	}
	if !lumigl.ObjectOf(g.Fields...).Equal(lumigl.ObjectOf(h.Fields...)) {
		return "the fields differ"
	}
	s, ok := a.(*lumigl.Snapshot)
	r, also := b.(*lumigl.Snapshot)
	switch {
	case ok != also:
		return "the forms differ"
	case !ok:
		return orderDifference(g, h)
	case s.Package != r.Package || s.Lineage != r.Lineage || s.Serial != r.Serial || !s.Args.Equal(r.Args):
		return "the headers differ"
	case len(s.Pending.Deletes) != len(r.Pending.Deletes) || len(s.Pending.Operations) != len(r.Pending.Operations):
		return "the numbers of pending resources differ"
	}
	for i, d := range s.Pending.Deletes {
		if problem := vertexDifference(d, r.Pending.Deletes[i]); problem != "" {
			return problem
		}
	}
	for i, o := range s.Pending.Operations {
		if o.Kind != r.Pending.Operations[i].Kind {
			return "the operations differ"
		}
		if problem := vertexDifference(o.Resource, r.Pending.Operations[i].Resource); problem != "" {
			return problem
		}
	}
	return ""
}

func orderDifference(g, h *lumigl.Graph) string {
	keys := func(g *lumigl.Graph) (keys []string) {
		for v := range g.Vertices() {
			keys = append(keys, v.Key())
		}
		return keys
	}
	if a, b := keys(g), keys(h); !slices.Equal(a, b) {
		return fmt.Sprintf("the order %q became %q", a, b)
	}
	return ""
}

func vertexDifference(v, w *lumigl.Vertex) string {
	full := func(v lumigl.Value) lumigl.Value { // properties may be absent instead of empty
		if !v.Exists() {
			return lumigl.ObjectOf()
		}
		return v
	}
	switch {
	case w == nil:
		return fmt.Sprintf("%q is gone", v.Key())
	case v.Key() != w.Key() || v.Type != w.Type || v.ID != w.ID:
		return fmt.Sprintf("%q is another", v.Key())
	case !full(v.Properties).Equal(full(w.Properties)):
		return fmt.Sprintf("%q has other properties", v.Key())
	case !v.Options.Equal(w.Options) || v.Source != w.Source:
		return fmt.Sprintf("%q has other options, or another source", v.Key())
	case !v.Extensions.Equal(w.Extensions):
		return fmt.Sprintf("%q has other extensions", v.Key())
	}
	return ""
}

// roundTrip writes a document, parses the text, and checks that writing it again returns the same text.
func roundTrip(t *rapid.T, doc lumigl.Document) (string, lumigl.Document) {
	text, err := lumigl.Append(nil, doc)
	if err != nil {
		t.Fatalf("Append: %v", err)
	}
	again, err := lumigl.Parse(string(text))
	if err != nil {
		t.Fatalf("Parse of a written document: %v\n%s", err, text)
	}
	alike(t, doc, again)
	second, err := lumigl.Append(nil, again)
	if err != nil {
		t.Fatalf("Append after a round trip: %v", err)
	}
	if string(second) != string(text) {
		t.Fatalf("Append after a round trip =\n%s\nwant\n%s", second, text)
	}
	var b strings.Builder
	if err := lumigl.Write(&b, again); err != nil || b.String() != string(text) {
		t.Fatalf("Write = %v\n%s\nwant the result of Append\n%s", err, b.String(), text)
	}
	return string(text), again
}

func TestRoundTripGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { roundTrip(t, randomGraph(t)) })
}

// The order is canonical: each resource follows its dependencies and has the first URN among the resources that could
// be next.
func TestRoundTripSnapshot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, doc := roundTrip(t, randomSnapshot(t))
		written := map[*lumigl.Vertex]bool{}
		ready := func(r *lumigl.Vertex) bool {
			for target := range r.References() {
				if !written[target] {
					return false
				}
			}
			return true
		}
		for r := range doc.Base().Vertices() {
			for other := range doc.Base().Vertices() {
				if !written[other] && other.Key() < r.Key() && ready(other) {
					t.Fatalf("%s precedes %s, which could have been written first and has a lesser URN", r.Key(), other.Key())
				}
			}
			if !ready(r) {
				t.Fatalf("%s precedes its dependencies", r.Key())
			}
			written[r] = true
		}
	})
}

func TestAppendIgnoresOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := randomSnapshot(t)
		text, _ := roundTrip(t, s)
		other := &lumigl.Snapshot{Package: s.Package, Args: s.Args, Lineage: s.Lineage, Serial: s.Serial, Pending: s.Pending}
		other.Tag, other.Fields = s.Tag, rapid.Permutation(s.Fields).Draw(t, "fields")
		all := slices.Collect(s.Vertices())
		for _, r := range rapid.Permutation(all).Draw(t, "another order") {
			must.Get(other.Add(r.URN()))(t)
		}
		to := func(v *lumigl.Vertex) *lumigl.Vertex { return other.Vertex(v.Key()) }
		for r := range other.Vertices() {
			from := s.Vertex(r.Key())
			r.ID, r.Extensions, r.Properties = from.ID, from.Extensions, from.Properties.Retarget(to)
			r.Options, r.Source = from.Options.Retarget(to), from.Source
		}
		other.Pending = lumigl.Pending{}
		for _, r := range s.Pending.Deletes {
			other.Pending.Deletes = append(other.Pending.Deletes, moved(t, r, to))
		}
		for _, o := range s.Pending.Operations {
			other.Pending.Operations = append(other.Pending.Operations, lumigl.Operation{Kind: o.Kind, Resource: moved(t, o.Resource, to)})
		}
		if again, _ := roundTrip(t, other); again != text {
			t.Fatalf("text for another insertion order =\n%s\nwant\n%s", again, text)
		}
		must.Do(t, other.Sort())
		if sorted, _ := roundTrip(t, other); sorted != text {
			t.Fatalf("text after Sort =\n%s\nwant\n%s", sorted, text)
		}
	})
}

func moved(t *rapid.T, r *lumigl.Vertex, to func(*lumigl.Vertex) *lumigl.Vertex) *lumigl.Vertex {
	c := must.Get(lumigl.NewResource(r.URN()))(t)
	c.ID, c.Extensions, c.Properties = r.ID, r.Extensions, r.Properties.Retarget(to)
	c.Options, c.Source = r.Options.Retarget(to), r.Source
	return c
}

// TestNumbers compares canonical numbers with the results of math/big.
func TestNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		literal := literals.Draw(t, "literal")
		v, ok := lumigl.NumberOf(literal)
		if !ok {
			t.Fatalf("NumberOf(%s) = false, want true", literal)
		}
		canonical, _ := v.Literal()
		want, _ := new(big.Rat).SetString(literal)
		got, ok := new(big.Rat).SetString(canonical)
		if !ok || got.Cmp(want) != 0 || strings.HasPrefix(canonical, "-") != strings.HasPrefix(literal, "-") {
			t.Fatalf("Literal of %s = %s, which is not equal", literal, canonical)
		}
		again, ok := lumigl.NumberOf(canonical)
		if text, _ := again.Literal(); !ok || text != canonical {
			t.Fatalf("Literal of %s = %s, then %s, want no change", literal, canonical, text)
		}
		// Other notations of a number have the same canonical form.
		for _, other := range []string{shift(literal, 1), shift(literal, 40), shift(literal, -40)} {
			if w, ok := lumigl.NumberOf(other); !ok || !w.Equal(v) {
				text, _ := w.Literal()
				t.Fatalf("Literal of %s = %s, but of %s = %s", literal, canonical, other, text)
			}
		}
	})
}

// shift changes the exponent of a number without changing its value by adding zeros.
func shift(literal string, by int) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	power := 0
	if exponent != "" {
		power, _ = strconv.Atoi(exponent)
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	if by > 0 {
		digits := strings.TrimLeft(whole+fraction+strings.Repeat("0", by), "0")
		if digits == "" {
			digits = "0"
		}
		return fmt.Sprintf("%s%sE%+d", sign, digits, power-len(fraction)-by)
	}
	return fmt.Sprintf("%s0.%s%s%s000e%d", sign, strings.Repeat("0", -by), whole, fraction, power+len(whole)-by)
}

// TestFixes breaks files in ways that can be fixed and applies the fixes.
func TestFixes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var doc lumigl.Document = randomGraph(t)
		if rapid.Bool().Draw(t, "snapshot") {
			doc = randomSnapshot(t)
		}
		broken := mutate(t, string(must.Get(lumigl.Append(nil, doc))(t)))
		found := faultsOf(t, broken)
		fixed, ok := fix(broken, found)
		if !ok {
			t.Fatalf("a fault has no fix: %v\n%s", &lumigl.InvalidError{Faults: found}, broken)
		}
		again, err := lumigl.Parse(fixed)
		if err != nil {
			t.Fatalf("Parse after all fixes: %v\nbroken\n%s\nfixed\n%s", err, broken, fixed)
		}
		alike(t, doc, again)
	})
}

// mutate makes random changes to a canonical text that do not obscure its meaning.
func mutate(t *rapid.T, text string) string {
	var b strings.Builder
	changes := 0
	// Keep the number of faults below the limit.
	change := func() bool {
		changed := changes < 30 && rapid.IntRange(0, 3).Draw(t, "change") == 0
		if changed {
			changes++
		}
		return changed
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			end := i + 1
			for text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			word := text[i+1 : end]
			isKey := strings.HasPrefix(text[end+1:], ": ")
			switch {
			case !change():
				b.WriteString(text[i : end+1])
			case isKey && isName(word) && rapid.Bool().Draw(t, "no quotes"):
				b.WriteString(word)
			case !strings.ContainsAny(word, `'\`):
				b.WriteString("'" + word + "'")
			default:
				b.WriteString(text[i : end+1])
			}
			i = end
		case c == ',':
			switch {
			case !change():
				b.WriteByte(c)
			case text[i+1] != '\n': // within a reference
				b.WriteString(",,")
			default:
				b.WriteString(rapid.SampledFrom([]string{"", ",,", " , ", ", // comment", "/* comment */,", ",\u00a0"}).Draw(t, "comma"))
			}
		case c == '\n' && i > 0 && i < len(text)-1 && (text[i-1] == '"' || text[i-1] == '}' || text[i-1] == ']') && change():
			if next := strings.TrimLeft(text[i:], " \n"); next[0] == '}' || next[0] == ']' {
				b.WriteString(",")
			}
			b.WriteString(" # comment\n")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}
