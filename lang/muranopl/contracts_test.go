package muranopl_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

// contractTable lists the contracts in the specification's table and values for each.
var contractTable = []struct {
	contract string
	values   []string
}{
	{"$.int()", []string{`"08"`, "3.7", "true", "null", `"x"`, "[1]"}},
	{"$.int().notNull()", []string{"1", "null"}},
	{"$.string()", []string{`"a"`, "1", "true", "null", "1.5", "[]"}},
	{"$.string().notNull()", []string{`""`, "null"}},
	{"$.bool()", []string{"true", "0", `""`, `"no"`, "null"}},
	{"$.bool().notNull()", []string{"[]", "null"}},
	{"$.class(Node)", []string{`{"p": 12}`, `"main"`, `"nobody"`, "null", "1"}},
	{"$.class(Node).notNull()", []string{"null"}},
	{"$.class(Node, Leaf)", []string{`{"p": 12}`, "null"}},
	{"$.class(Node).check($.p = 12)", []string{`{"p": 12}`, `{"p": 13}`}},
	{"[$.int()]", []string{"[1, null, \"2\"]", "5", "null", `["x"]`}},
	{"[$.int().notNull()]", []string{"[]", "[1, null]"}},
	{"[$.int().check($ > 0)]", []string{"[1, 2]", "[1, 0]"}},
	{"[$.int(), $.string()]", []string{"[1, 2, 3]"}},
	{"[$.int(), 2]", []string{"[1]", "[1, 2, 3]"}},
	{"[$.int(), 2, 5]", []string{"[1]", "[1, 2]", "[1, 2, 3, 4, 5, 6]"}},
	{"{A: $.int(), B: [$.string()]}", []string{`{"A": "1", "B": [2], "C": 3}`, "{}", "[]"}},
	{"$", []string{"null", `{"a": [1]}`}},
	{"[]", []string{"1", "[[1], {}]", "null"}},
	{"{}", []string{`{"a": 1}`, "1", "null"}},
	{"{$.string().notNull(): $.int().notNull()}", []string{`{"a": "1"}`, `{"a": null}`}},
	{"{A: StringMap, $.string().notNull(): $}", []string{`{"A": "StringMap", "b": [1]}`, `{"A": "Map"}`}},
}

func TestContracts(t *testing.T) {
	var b strings.Builder
	for _, row := range contractTable {
		fmt.Fprintf(&b, "%s\n", row.contract)
		for _, value := range row.values {
			class := "Namespaces: {=: t}\nName: Main\nProperties: {p: {Contract: $.int()}}\n" +
				"Methods: {m: {Arguments: {x: {Contract: " + quoted(row.contract) + "}}, Body: {Return: $x}}}\n" +
				"---\nName: Node\nExtends: Main\n---\nName: Leaf\nExtends: Node\n"
			var arg any
			decoder := json.NewDecoder(strings.NewReader(value))
			decoder.UseNumber()
			must.Do(t, decoder.Decode(&arg))
			a := run(t, request{Classes: []string{class}, Model: model("t.Main"), Method: "m", Args: []any{arg}})
			result := string(a.Value)
			if a.Error.Kind != "" {
				result = a.Error.Kind + ": " + a.Error.Message
			}
			fmt.Fprintf(&b, "\t%s -> %s\n", value, result)
		}
	}
	const file = "testdata/contracts.txt"
	if *update {
		must.Do(t, os.WriteFile(file, []byte(b.String()), 0o666))
	}
	want := must.Get(os.ReadFile(file))(t)
	if b.String() != string(want) {
		t.Errorf("table of contracts =\n%s\nwant\n%s", b.String(), want)
	}
}
