package query_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/query"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// graph parses a general graph from lines such as "a: b c", which list the references of a vertex.
func graph(t testing.TB, lines ...string) *lumigl.Graph {
	t.Helper()
	g := &lumigl.Graph{}
	refs := map[string][]string{}
	for _, line := range lines {
		key, to, _ := strings.Cut(line, ":")
		must.Get(g.Add(key))(t)
		refs[key] = strings.Fields(to)
	}
	for v := range g.Vertices() {
		var list []lumigl.Value
		for _, to := range refs[v.Key()] {
			list = append(list, lumigl.ReferenceTo(g.Vertex(to)))
		}
		v.Properties = lumigl.ObjectOf(lumigl.Member{Key: "to", Value: lumigl.ListOf(list...)})
	}
	return g
}

func keys(vertices []*lumigl.Vertex) string {
	var all []string
	for _, v := range vertices {
		all = append(all, v.Key())
	}
	return strings.Join(all, " ")
}

func TestRelations(t *testing.T) {
	t.Parallel()
	g := graph(t, "a: b c c", "b: d", "c: d", "d: e", "e", "lone", "self: self", "x: y", "y: x")
	x := query.New(g)
	for _, test := range []struct {
		what string
		got  []*lumigl.Vertex
		want string
	}{
		{"dependencies of a", x.Dependencies(g.Vertex("a"), false), "b c"},
		{"all dependencies of a", x.Dependencies(g.Vertex("a"), true), "b c d e"},
		{"dependents of d", x.Dependents(g.Vertex("d"), false), "b c"},
		{"all dependents of e", x.Dependents(g.Vertex("e"), true), "a b c d"},
		{"all dependencies in a circle", x.Dependencies(g.Vertex("x"), true), "x y"},
		{"roots", x.Roots(), "a lone self"},
		{"leaves", x.Leaves(), "e lone self"},
		{"tops", x.Tops(false), "a lone self x"},
		{"tops upside down", x.Tops(true), "e lone self x"},
		{"dependencies of a stranger", x.Dependencies(&lumigl.Vertex{}, true), ""},
	} {
		expect.Equal(t, test.want, keys(test.got), test.what)
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	g := graph(t, "y: z", "z: y", "a: c b c", "b", "c")
	x := query.New(g)
	if got := keys(x.Dependencies(g.Vertex("a"), false)); got != "b c" {
		t.Errorf("Dependencies(a) = %s, want b c", got)
	}
	if got := keys(x.Tops(false)); got != "y a" {
		t.Errorf("Tops = %s, want y a", got)
	}
}

func TestForeignVertex(t *testing.T) {
	t.Parallel()
	g := graph(t, "a", "b")
	stranger := &lumigl.Vertex{}
	g.Vertex("b").Properties = lumigl.ObjectOf(lumigl.Member{Key: "to", Value: lumigl.ReferenceTo(stranger)})
	x := query.New(g)
	if got := keys(x.Leaves()); got != "a b" {
		t.Errorf("Leaves = %s, want a b", got)
	}
	for _, ends := range [][2]*lumigl.Vertex{{stranger, g.Vertex("a")}, {g.Vertex("a"), stranger}} {
		if paths, all := x.Paths(ends[0], ends[1], nil, 10); len(paths) > 0 || !all {
			t.Errorf("Paths = %d paths, %t, want none, true", len(paths), all)
		}
	}
	if around := x.Around(stranger, 1, true, true); len(around) > 0 {
		t.Errorf("Around(stranger) = %s, want none", keys(around))
	}
}

func TestAround(t *testing.T) {
	t.Parallel()
	g := graph(t, "e: d", "d: c", "c: b x", "b: a", "a", "x: c", "other: b")
	x := query.New(g)
	for _, test := range []struct {
		steps                    int
		dependencies, dependents bool
		want                     string
	}{
		{0, true, true, "c"},
		{1, true, false, "c b x"},
		{1, false, true, "d c x"},
		{1, true, true, "d c b x"},
		{2, true, false, "c b a x"},
		{2, true, true, "e d c b a x"},
		{9, true, true, "e d c b a x"},
		{9, false, false, "c"},
	} {
		if got := keys(x.Around(g.Vertex("c"), test.steps, test.dependencies, test.dependents)); got != test.want {
			t.Errorf("Around with %+v = %s, want %s", test, got, test.want)
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	g := graph(t, "a: b c e", "b: d", "c: d", "d: e a", "e", "lone")
	x := query.New(g)
	for _, test := range []struct {
		from, to string
		but      string // vertices to avoid
		limit    int
		want     []string
		all      bool
	}{
		{"a", "e", "", 10, []string{"a e", "a b d e", "a c d e"}, true},
		{"a", "e", "", 3, []string{"a e", "a b d e", "a c d e"}, true},
		{"a", "e", "", 2, []string{"a e", "a b d e"}, false},
		{"a", "e", "b", 10, []string{"a e", "a c d e"}, true},
		{"a", "e", "d", 10, []string{"a e"}, true},
		{"a", "e", "a", 10, []string{"a e", "a b d e", "a c d e"}, true},
		{"a", "e", "e", 10, []string{"a e", "a b d e", "a c d e"}, true},
		{"d", "d", "", 10, []string{"d"}, true},
		{"c", "b", "", 10, []string{"c d a b"}, true},
		{"c", "b", "a", 10, nil, true},
		{"a", "lone", "", 10, nil, true},
		{"e", "a", "", 10, nil, true},
	} {
		var got []string
		var via func(*lumigl.Vertex) bool
		if test.but != "" {
			via = func(v *lumigl.Vertex) bool { return v.Key() != test.but }
		}
		paths, all := x.Paths(g.Vertex(test.from), g.Vertex(test.to), via, test.limit)
		for _, path := range paths {
			got = append(got, keys(path))
		}
		if all != test.all {
			t.Errorf("Paths from %s to %s: all = %t, want %t", test.from, test.to, all, test.all)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("Paths from %s to %s mismatch (-want +got):\n%s", test.from, test.to, diff)
		}
	}
}

// The graph has 2^40 paths.
func TestPathsLimit(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("v%d: l%d r%d", i, i, i), fmt.Sprintf("l%d: v%d", i, i+1), fmt.Sprintf("r%d: v%d", i, i+1))
	}
	g := graph(t, append(lines, "v40")...)
	if found, all := query.New(g).Paths(g.Vertex("v0"), g.Vertex("v40"), nil, 100); len(found) != 100 || all {
		t.Errorf("Paths = %d paths, %t, want 100, false", len(found), all)
	}
}

func TestPathsComplete(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		g := &lumigl.Graph{}
		var all []*lumigl.Vertex
		for i := range n {
			v, _ := g.Add(fmt.Sprint(i))
			all = append(all, v)
		}
		edges := map[[2]int]bool{}
		for i, v := range all {
			var list []lumigl.Value
			for j, to := range all {
				if rapid.Bool().Draw(t, "edge") {
					edges[[2]int{i, j}] = true
					list = append(list, lumigl.ReferenceTo(to))
				}
			}
			v.Properties = lumigl.ObjectOf(lumigl.Member{Key: "to", Value: lumigl.ListOf(list...)})
		}
		var want []string
		var walk func(path []int)
		walk = func(path []int) {
			last := path[len(path)-1]
			if last == n-1 {
				want = append(want, fmt.Sprint(path))
				return
			}
			for j := range n {
				if edges[[2]int{last, j}] && !slices.Contains(path, j) {
					walk(append(slices.Clone(path), j))
				}
			}
		}
		walk([]int{0})
		slices.SortStableFunc(want, func(a, b string) int { return len(a) - len(b) })
		var got []string
		paths, _ := query.New(g).Paths(all[0], all[n-1], nil, 1<<20)
		for _, path := range paths {
			got = append(got, "["+keys(path)+"]")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("Paths mismatch (-want +got):\n%s", diff)
		}
	})
}

const snapshot = `{"resources": {
	"urn:lumi:prod::my/net:web::aws:ec2:VPC::main": {"type": "aws:ec2:VPC", "id": "vpc-1", "properties": {
		"cidrBlock": "10.0.0.0/16", "size": 16, "ratio": 0.5, "tags": {"env": "prod"}, "on": true, "off": false, "none": null}},
	"urn:lumi:prod::my/net:web::aws:ec2:Subnet::a": {"type": "aws:ec2:Subnet", "properties": {
		"vpc": {"#ref": "urn:lumi:prod::my/net:web::aws:ec2:VPC::main"}, "zones": ["a", "b"], "size": 24}},
	"urn:lumi:prod::my/net:web::aws:rds:DB::db": {"type": "aws:rds:DB", "properties": {
		"password": {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "hush"},
		"host": {"#ref": "urn:lumi:prod::my/net:web::aws:ec2:Subnet::a", "property": "ip"},
		"port": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"}}
}}`

func TestSelect(t *testing.T) {
	t.Parallel()
	s := must.Get(lumigl.ParseSnapshot(snapshot))(t)
	x := query.New(s.Base())
	for expression, want := range map[string]string{
		`true`:                  "main a db",
		`type == "aws:ec2:VPC"`: "main",
		`name.startsWith("d")`:  "db",
		`id != ""`:              "main",
		`module == "web" && pkg == "my/net" && environment == "prod"`: "main a db",
		`key.endsWith("::a")`:                           "a",
		`properties.size > 20`:                          "a",
		`properties.size == 16.0`:                       "main",
		`properties.ratio < 1`:                          "main",
		`properties.tags.env == "prod"`:                 "main",
		`has(properties.zones)`:                         "a",
		`"b" in properties.zones`:                       "a",
		`properties.zones[5] == "x"`:                    "",
		`properties.zones > 3`:                          "",
		`properties.on`:                                 "main",
		`properties.off == false`:                       "main",
		`properties.ratio == 0.5`:                       "main",
		`has(properties.vpc.property)`:                  "",
		`properties.none == null`:                       "main",
		`properties.vpc.ref.contains("VPC")`:            "a",
		`properties.host.property == "ip"`:              "db",
		`has(properties.password.secret)`:               "db",
		`has(properties.port.unknown)`:                  "db",
		`dependents.size() == 0`:                        "db",
		`dependencies.exists(d, d.endsWith("::main"))`:  "a",
		`properties.exists(k, properties[k] == "hush")`: "",
	} {
		e, err := query.Compile(expression)
		if err != nil {
			t.Errorf("Compile(%s): %v", expression, err)
			continue
		}
		found, err := x.Select(e)
		var names []string
		for _, v := range found {
			names = append(names, v.URN().Name())
		}
		if got := strings.Join(names, " "); got != want || err != nil {
			t.Errorf("Select(%s) = %q, %v, want %q", expression, got, err, want)
		}
	}
}

func TestInvalidExpressions(t *testing.T) {
	t.Parallel()
	s := must.Get(lumigl.ParseSnapshot(snapshot))(t)
	const first = "urn:lumi:prod::my/net:web::aws:ec2:VPC::main: "
	for expression, want := range map[string]string{
		``:                                 `expression, 1:1: unexpected end of expression`,
		`name ==`:                          `expression, 1:8: unexpected end of expression`,
		`(name == "x"`:                     `expression, 1:13: unexpected end of expression`,
		`properties.`:                      `expression, 1:12: unexpected end of expression`,
		`name = "x"`:                       `expression, 1:6: unknown operator =; to compare, write ==`,
		`type =`:                           `expression, 1:6: unknown operator =; to compare, write ==`,
		`name === "x"`:                     `expression, 1:6: unknown operator ===; write ==`,
		`name !== "x"`:                     `expression, 1:6: unknown operator !==; write !=`,
		`name <> "x"`:                      `expression, 1:6: unknown operator <>; write !=`,
		`true & true`:                      `expression, 1:6: unknown operator &; write &&`,
		`id == "é" and true`:               `expression, 1:11: unknown operator and; write &&`,
		`true OR false`:                    `expression, 1:6: unknown operator OR; write ||`,
		`true && not has(properties.x)`:    `expression, 1:9: unknown operator not; write !`,
		`id is null`:                       `expression, 1:4: unknown operator is; write ==`,
		`type ~ "Queue"`:                   `expression, 1:6: unknown operator ~; to search in a string, use contains, startsWith, endsWith or matches, as in type.contains("Queue")`,
		`type like "Queue"`:                `expression, 1:6: unknown operator like; to search in a string, use contains, startsWith, endsWith or matches, as in type.contains("Queue")`,
		`id ^ 1`:                           `expression, 1:4: unknown operator ^; the operators are == != < <= > >= && || ! in + - * / % ?:`,
		`id "x"`:                           `expression, 1:4: missing operator between two values; the operators are == != < <= > >= && || ! in + - * / % ?:`,
		`name == == "x"`:                   `expression, 1:9: unexpected "=="`,
		`name == "x`:                       `expression, 1:9: unterminated string or invalid escape; write a backslash as \\`,
		`name == “x”`:                      `expression, 1:9: expected straight quotes, " or '`,
		`name in ("a", "b")`:               `expression, 1:13: unexpected ","; lists are written in square brackets`,
		`true id == "x"`:                   `expression, 1:6: unexpected "id"; conditions are combined with && or ||`,
		`true (id == "x")`:                 `expression, 1:6: unexpected "("; conditions are combined with && or ||`,
		`name )`:                           `expression, 1:6: unexpected ")"`,
		`has(tags)`:                        `expression, 1:5: has expects a property, as in has(properties.tags)`,
		`has(properties)`:                  `expression, 1:5: has expects a property, as in has(properties.tags)`,
		`has(id, name)`:                    `expression, 1:4: has expects one property, as in has(properties.tags)`,
		`dependencies.exists(d)`:           `expression, 1:20: wrong arguments for exists; write it as in dependencies.exists(d, d.contains("web"))`,
		`dependencies.exists("d", true)`:   `expression, 1:21: the first argument must be a variable name for each element, as in dependencies.exists(d, d.contains("web"))`,
		`for`:                              `expression, 1:1: "for" is a reserved word`,
		`type == Subnet`:                   `expression, 1:9: unknown variable "Subnet"; put strings in quotes, write a property as properties.Subnet; the variables are key, type, id, name, environment, pkg, module, properties, options, dependencies, dependents`,
		`typ == "x"`:                       `expression, 1:1: unknown variable "typ"; did you mean "type"?`,
		"true &&\n(tpye)":                  `expression, 2:2: unknown variable "tpye"; did you mean "type"?`,
		`name.startswith("x")`:             `expression, 1:16: unknown function "startswith"; did you mean "startsWith"?`,
		`foo(name)`:                        `expression, 1:4: unknown function "foo"; common functions are contains, startsWith, endsWith, matches, size, has, exists, all, filter, map`,
		`name`:                             `expression, 1:1: the expression must be a bool, got string`,
		`name == 1`:                        `expression, 1:6: no operator == for string and int`,
		`!name`:                            `expression, 1:1: no ! for string`,
		`dependencies["x"] == ""`:          `expression, 1:13: no operator [] for list(string) and string`,
		`name ? 1 : 2`:                     `expression, 1:6: the condition before ? must be a bool, and both values around : must have the same type`,
		`size(name, 1) == 1`:               `expression, 1:5: no size for (string, int)`,
		`properties.x.startsWith(1)`:       `expression, 1:24: no startsWith for any.(int)`,
		`type.name == ""`:                  `expression, 1:5: a string has no fields, only functions, as in type.contains("Queue")`,
		`name && true`:                     `expression, 1:1: expected a bool, got a string`,
		`9999999999999999999999 == 1`:      `expression, 1:1: invalid number "9999999999999999999999"`,
		`"x".matches("(")`:                 `expression, 1:14: invalid regular expression "(": missing closing )`,
		`"é".matches(r'é[') || id == "["`:  `expression, 1:16: invalid regular expression "[": missing closing ]`,
		"true &&\nid.matches('''(\n''')":   `expression, 2:12: invalid regular expression "(\n": missing closing )`,
		`"(".matches("\x28")`:              `expression, 1:13: invalid regular expression "(": missing closing )`,
		`matches(id, string("("))`:         `expression, 1:1: invalid regular expression "(": missing closing )`,
		`int("abc") > 0`:                   `expression, 1:5: "abc" is not a valid int`,
		"true &&\n1.0 in [double('x')]":    `expression, 2:16: "x" is not a valid double`,
		`uint(-1) == 1u`:                   `expression, 1:6: -1 is not a valid uint`,
		`int(double("1e40")) > 0`:          `expression, 1:11: double("1e40") is not a valid int`,
		`int(dyn([1])) > 0`:                `expression, 1:8: dyn([1]) is not a valid int`,
		`bool("x")`:                        `expression, 1:6: "x" is not a valid bool`,
		`string(b"\xff") == id`:            `expression, 1:8: b"\377" is not a valid string`,
		`timestamp("x") == timestamp("x")`: `expression, 1:11: "x" is not a valid timestamp such as "2017-06-01T12:00:00Z"`,
		`duration("x") == duration("1s")`:  `expression, 1:10: "x" is not a valid duration such as "1h30m"`,
		strings.Repeat("a b ", 200):        `expression, 1:3: unexpected "b"; conditions are combined with && or ||`,
		`typ == nam`: "expression, 1:1: unknown variable \"typ\"; did you mean \"type\"?\n" +
			"expression, 1:8: unknown variable \"nam\"; did you mean \"name\"?",
		`properties.size`: first + "the expression must be a bool, got int",
		`1 / 0 == 1`:      first + "division by zero",
		slow:              first + "the expression exceeds the cost limit",
	} {
		e, err := query.Compile(expression)
		if err == nil {
			_, err = query.New(s.Base()).Select(e)
		}
		if fmt.Sprint(err) != want {
			t.Errorf("error of %s =\n%v\nwant\n%s", expression, err, want)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	const deep = "expression, 1:1: the expression is nested deeper than 250 levels; each pair of brackets is one, " +
		"and so is each + or dot of a chain, but not && or ||"
	for _, test := range []struct {
		what       string
		expression func(n int) string
		most       int
		want       string
	}{
		{"parentheses", func(n int) string { return strings.Repeat("(", n) + "true" + strings.Repeat(")", n) }, 249, deep},
		{"sums", func(n int) string { return strings.Repeat("1 + ", n) + "1 > 0" }, 249, deep},
		{"dots", func(n int) string { return "properties" + strings.Repeat(".a", n) + " == 1" }, 249, deep},
		{"conditions", func(n int) string { return strings.Repeat("id == '' && ", n) + "true" }, 300, ""},
		{
			"characters", func(n int) string { return `"` + strings.Repeat("é", n-7) + `" < id` }, 100_000,
			"expression, 1:1: the expression is too long: 100001 characters, the maximum is 100000",
		},
	} {
		if _, err := query.Compile(test.expression(test.most)); err != nil {
			t.Errorf("Compile with %d %s: %v", test.most, test.what, err)
		}
		if test.want == "" {
			continue
		}
		var wrong *query.ExpressionError
		if _, err := query.Compile(test.expression(test.most + 1)); !errors.As(err, &wrong) || wrong.Error() != test.want {
			t.Errorf("Compile with %d %s = %v, want %s", test.most+1, test.what, err, test.want)
		}
	}
}

// slow is an expression that would run for hours without a limit.
var slow = strings.Repeat(`[1,2,3,4,5,6,7,8,9].all(a, `, 12) + `name != ""` + strings.Repeat(")", 12)
