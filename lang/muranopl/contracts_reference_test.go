package muranopl_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// contractClasses declares the classes used by contracts and values.
const contractClasses = `Namespaces: {=: t}
Name: Node
Properties:
  p: {Contract: $.int(), Default: 7}
  q: {Contract: $.string()}
---
Name: Leaf
Extends: Node
---
Name: Other
Properties:
  n: {Contract: $.class(Node)}
---
`

// contractAtoms lists contracts. contractValues lists expressions for values.
var (
	contractAtoms = []string{
		"$", "$.int()", "$.string()", "$.bool()", "$.notNull()", "$.int().notNull()", "$.string().notNull()",
		"$.bool().notNull()", "$.notNull().int()", "$.string().int()", "$.int().string()", "$.bool().int()", "$.int().bool()",
		"$.bool().string()", "$.string().bool()", "$.int().check($ > 0)", "$.check($ > 0).int()", "$.int().check($ > 0, 'too small')",
		"$.string().check($.len() < 3)", "$.check(isString($))", "$.check($this.min < $)", "$.check(false)", "$.check(null)", "$.check([0])",
		"$.class(Node)", "$.class(Node).notNull()", "$.class(Node, Leaf)", "$.class(Leaf, Node)", "$.class(':Leaf')", "$.class('t.Leaf')",
		"$.class(Node).check($.p = 7)", "$.check($.p = 7).class(Node)", "$.class(Node).string().check($.len() > 5)", "$.class(Missing)",
		"$.class(Node).owned()", "$.class(Node).notOwned()", "$.owned()", "$.notOwned()", "$.template(Node).p", "$.template(Missing)", "$.class(:Node)", "$.class(x:Node)",
		"$.unknown()", "$.p", "$ + 1", "$this.min", "7", "abc", "null", "1.0", "'$.int()'", "[]", "{}", "[1]", "{a: 1}",
	}
	contractValues = []string{
		"null", "true", "false", "0", "1", "-1", "7", "3.7", "-3.7", "0.0", "1.0", "1.0 * 100000000000000000000", "12345678901234567890123", "'08'", "'3.7'",
		"' 12 '", "'1_000'", "'_1'", "'1__0'", "'+5'", "'-5'", "'- 5'", "'0x10'", "'1e3'", "'abc'", "''", "'null'", "'true'", "'12345678901234567890'",
		"[]", "[1]", "[1, 2]", "['1', '2', '3']", "[null]", "[[1], [2]]", "[1, abc, true, null]", "{}", "{a => 1}", "{a => '1', b => 2}",
		"{A => 1, B => x}", "{a => [1, 2]}", "[{a => 1}]", "set(1, 2)", "[1, 2].select($ + 1)",
		"range(3)", "[$.node].select($)", "{a => 1}.values()", "[1, 2].enumerate()", "generate(1, $ < 4, $ + 1)", "[[1, 2].select($)]", "$.node", "$.leaf", "$.other", "$", "'n'", "'l'", "'main'", "$.node.p", "{p => 3}", "{':Leaf' => {p => 9}}", "{'?' => {type => 't.Leaf'}, q => 1}",
		"{'?' => {type => 't.Other'}}", "{':Other' => {n => {}}}", "{':Missing' => {}}", "new(Node)", "$.other.n", "[$.node, {p => 2}, 'l']",
		"{p => abc}", ":Node", "{A => StringMap}", "{A => StringMap, x => 1}",
	}
)

// nested generates a contract composed of other contracts.
func nested(r *rand.Rand, depth int) string {
	atom := func() string {
		if depth > 0 && r.IntN(3) == 0 {
			return nested(r, depth-1)
		}
		return contractAtoms[r.IntN(len(contractAtoms))]
	}
	var parts []string
	for range 1 + r.IntN(3) {
		parts = append(parts, quoted(atom()))
	}
	switch r.IntN(3) {
	case 0:
		for range r.IntN(3) {
			parts = append(parts, fmt.Sprint(r.IntN(4)))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case 1:
		for i := range parts {
			parts[i] = string("aABb1p"[i*2+r.IntN(2)]) + ": " + parts[i]
		}
		if r.IntN(2) == 0 {
			parts = append(parts, "!yaql '"+strings.ReplaceAll(contractAtoms[r.IntN(15)], "'", "''")+"': "+quoted(atom()))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "[" + strings.Join(parts[:1], ", ") + "]"
}

// quoted returns a contract as an element of a YAML flow collection.
func quoted(contract string) string {
	if !strings.Contains(contract, "$") || contract[0] == '[' || contract[0] == '{' || contract[0] == '\'' {
		return contract
	}
	return "!yaql '" + strings.ReplaceAll(contract, "'", "''") + "'"
}

// TestContractsReference applies contracts of all shapes to values of all types and compares the results with the
// reference. It tries each contract with every 80th value, or with more values if MURANO_ITERATIONS is high.
func TestContractsReference(t *testing.T) {
	t.Parallel()
	ref := startReference(t)
	parts := max(80/iterations(1), 1)
	contracts := append([]string{}, contractAtoms...)
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		contracts = append(contracts, nested(r, 2))
	}
	var b strings.Builder
	b.WriteString(contractClasses + `Name: Main
Properties:
  min: {Contract: $.int(), Default: 2}
  node: {Contract: $.class(Node)}
  leaf: {Contract: $.class(Node)}
  other: {Contract: $.class(Other)}
Methods:
`)
	b.WriteString("  values:\n    Body:\n    - Return:\n")
	for part := range parts {
		fmt.Fprintf(&b, "      - [0")
		for j := part; j < len(contractValues); j += parts {
			fmt.Fprintf(&b, ", %s", quotedExpression(contractValues[j]))
		}
		b.WriteString("]\n")
	}
	for i, c := range contracts {
		fmt.Fprintf(&b, "  c%d: {Arguments: {x: {Contract: %s}}, Body: {Return: $x}}\n", i, quoted(c))
	}
	b.WriteString("  main:\n    Body:\n    - $values: $.values()\n")
	for i := range contracts {
		fmt.Fprintf(&b, "    - {For: v, In: !yaql '$values[%d].skip(1)', Do: {Try: [!yaql 'trace([%d, $v, $.c%d($v)])'], Catch: {Do: [!yaql 'trace([%[2]d, $v, error])']}}}\n", i%parts, i, i)
	}
	q := request{Classes: []string{b.String()}, Method: "main", Model: json.RawMessage(`{"?": {"type": "t.Main", "id": "main"},
		"leaf": {"?": {"type": "t.Leaf", "id": "l"}}, "node": {"?": {"type": "t.Node", "id": "n"}, "q": "text"},
		"other": {"?": {"type": "t.Other", "id": "o"}, "n": "l"}}`)}
	got, want := run(t, q), ref.ask(q)
	var ours, theirs []json.RawMessage
	_ = json.Unmarshal(got.Trace, &ours)
	_ = json.Unmarshal(want.Trace, &theirs)
	if len(ours) != len(theirs) || got.Error.Kind != want.Error.Kind {
		t.Fatalf("error = %s, want %s", got.Error.Message, want.Error.Message)
	}
	for i := range ours {
		var v [3]any
		_ = json.Unmarshal(ours[i], &v)
		if a, b := normal(ours[i]), normal(theirs[i]); a != b {
			t.Errorf("[contract, value, result] = %s, want %s\n%s", a, b, contracts[int(v[0].(float64))])
		}
	}
	t.Logf("%d combinations", len(ours))
}

func quotedExpression(source string) string {
	return "!yaql '" + strings.ReplaceAll(source, "'", "''") + "'"
}

var generatedID = regexp.MustCompile(`"[0-9a-f]{32}"`)

// normal returns a value as JSON without the ids of new objects.
func normal(text json.RawMessage) string {
	var v any
	_ = json.Unmarshal(text, &v)
	b, _ := json.Marshal(v)
	return generatedID.ReplaceAllString(string(b), "id")
}
