package render_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/graph/formats/dot"
	"gonum.org/v1/gonum/graph/formats/dot/ast"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/render"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// formats maps file extensions to the functions that write the formats.
var formats = map[string]func(io.Writer, lumigl.Document, render.Options) error{
	"dot": render.DOT, "mmd": render.Mermaid, "html": render.Page,
}

func drawn(t testing.TB, format string, doc lumigl.Document, o render.Options) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, formats[format](&b, doc, o))
	return b.String()
}

func parse(t testing.TB, file string) lumigl.Document {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join("testdata", file)))(t)
	return must.Get(lumigl.Parse(string(text)))(t)
}

// TestGolden draws testdata/*.json in all formats. Only the data of pages is compared, since the rest is the same for
// all.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"snapshot", "graph", "hostile"} {
		doc := parse(t, name+".json")
		for _, format := range []string{"dot", "mmd", "html"} {
			text := drawn(t, format, doc, render.Options{Title: name + ".json", Cluster: render.ByType})
			if again := drawn(t, format, doc, render.Options{Title: name + ".json", Cluster: render.ByType}); again != text {
				t.Errorf("%s.%s is not deterministic", name, format)
			}
			if strings.Contains(text, "hunter2") {
				t.Errorf("%s.%s contains a secret", name, format)
			}
			golden := filepath.Join("testdata", name+"."+format)
			if format == "html" {
				golden += ".json"
				text = indented(t, dataOf(t, text))
			}
			if *update {
				must.Do(t, os.WriteFile(golden, []byte(text), 0o600))
			}
			want := must.Get(os.ReadFile(golden))(t)
			expect.Equal(t, string(want), text, golden)
		}
	}
}

// dataOf extracts the data of a page as a browser does: up to the first end tag of a script.
func dataOf(t testing.TB, page string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, `<script type="application/json" id="data">`)
	data, rest, ok2 := strings.Cut(rest, "</script")
	if !ok || !ok2 {
		t.Fatal("the page contains no data")
	}
	if n := strings.Count(strings.ToLower(rest), "</script"); n != 1 {
		t.Errorf("the page has %d end tags of scripts after the data, want 1", n)
	}
	if strings.ContainsAny(data, "<>&\u2028\u2029") {
		t.Error("the data contains characters that are special in HTML")
	}
	if !json.Valid([]byte(data)) {
		t.Errorf("the data is not valid JSON:\n%s", data)
	}
	return data
}

func indented(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, json.Indent(&b, []byte(text), "", " "))
	return b.String() + "\n"
}

// dotOf parses DOT with an independent parser. It returns the ids of the nodes and the number of edges.
func dotOf(t testing.TB, text string) (nodes map[string]bool, edges int) {
	t.Helper()
	file, err := dot.ParseString(text)
	if err != nil {
		t.Fatalf("parsing DOT: %v\n%s", err, text)
	}
	nodes = map[string]bool{}
	var look func([]ast.Stmt)
	look = func(list []ast.Stmt) {
		for _, s := range list {
			switch s := s.(type) {
			case *ast.NodeStmt:
				nodes[s.Node.ID] = true
			case *ast.EdgeStmt:
				edges++
			case *ast.Subgraph:
				look(s.Stmts)
			}
		}
	}
	look(file.Graphs[0].Stmts)
	return nodes, edges
}

func TestDOTParses(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"snapshot", "graph", "hostile"} {
		doc := parse(t, name+".json")
		for _, cluster := range []render.Cluster{render.NoCluster, render.ByType, render.ByPackage, render.ByModule} {
			nodes, edges := dotOf(t, drawn(t, "dot", doc, render.Options{Title: `a "b"`, Cluster: cluster}))
			if len(nodes) != doc.Base().Len() || edges != arrows(doc) {
				t.Errorf("%s: DOT has %d nodes and %d edges, want %d and %d", name, len(nodes), edges, doc.Base().Len(), arrows(doc))
			}
		}
	}
}

func TestGraphviz(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("dot"); err != nil {
		t.Skip("Graphviz is not installed; run 'apt-get install graphviz'")
	}
	for _, name := range []string{"snapshot", "graph", "hostile"} {
		doc := parse(t, name+".json")
		cmd := exec.Command("dot", "-Tsvg")
		cmd.Stdin = strings.NewReader(drawn(t, "dot", doc, render.Options{Title: name, Cluster: render.ByModule}))
		var out, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &said
		if err := cmd.Run(); err != nil || said.Len() > 0 {
			t.Errorf("%s: Graphviz: %v\n%s", name, err, said.String())
		}
		if n := strings.Count(out.String(), `class="node"`); n != doc.Base().Len() {
			t.Errorf("%s: Graphviz drew %d nodes, want %d", name, n, doc.Base().Len())
		}
		if n := strings.Count(out.String(), `class="edge"`); n != arrows(doc) {
			t.Errorf("%s: Graphviz drew %d edges, want %d", name, n, arrows(doc))
		}
	}
}

func TestOptionsOnly(t *testing.T) {
	t.Parallel()
	doc := parse(t, "graph.json")
	o := render.Options{Only: []*lumigl.Vertex{doc.Base().Vertex("c"), doc.Base().Vertex("a")}}
	got := render.Summarize(doc, o)
	want := &render.Summary{
		Vertices: []render.SummaryVertex{{Key: "c", Name: "c"}, {Key: "a", Name: "a"}},
		Arrows: []render.SummaryArrow{
			{From: "a", To: "c", Paths: []string{"children[1]"}}, {From: "a", To: "a", Paths: []string{"children[3]"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Summarize mismatch (-want +got):\n%s", diff)
	}
}

// chain returns a graph of n vertices. Each vertex refers to the next one, and every tenth vertex also refers to itself
// and to the first one.
func chain(t testing.TB, n int) *lumigl.Graph {
	t.Helper()
	g := &lumigl.Graph{}
	var last *lumigl.Vertex
	for i := range n {
		v := must.Get(g.Add(fmt.Sprintf("v%d", i)))(t)
		if last != nil {
			last.Properties = lumigl.ObjectOf(lumigl.Member{Key: "next", Value: lumigl.ReferenceTo(v)})
		}
		if i%10 == 9 {
			last.Properties = last.Properties.With("self", lumigl.ReferenceTo(last)).With("first", lumigl.ReferenceTo(g.Vertex("v0")))
		}
		last = v
	}
	return g
}

func TestLarge(t *testing.T) {
	t.Parallel()
	g := chain(t, 100_000)
	if nodes, edges := dotOf(t, drawn(t, "dot", chain(t, 10_000), render.Options{})); len(nodes) != 10_000 || edges != 9_999+2_000 {
		t.Errorf("DOT has %d nodes and %d edges, want %d and %d", len(nodes), edges, 10_000, 9_999+2_000)
	}
	if n := strings.Count(drawn(t, "dot", g, render.Options{}), "->"); n != 119_999 {
		t.Errorf("DOT has %d edges, want %d", n, 119_999)
	}
	err := render.Page(io.Discard, g, render.Options{})
	var large *render.TooLargeError
	if !errors.As(err, &large) || err.Error() != "too many vertices for a page: 100000, the maximum is 20000" {
		t.Errorf("Page = %v, want a *TooLargeError", err)
	}
	data := dataOf(t, drawn(t, "html", chain(t, render.MaxPageVertices), render.Options{}))
	if n := strings.Count(data, `"key":`); n != render.MaxPageVertices {
		t.Errorf("page has %d nodes, want %d", n, render.MaxPageVertices)
	}
}

func TestLargeValues(t *testing.T) {
	t.Parallel()
	g := &lumigl.Graph{}
	to, _ := g.Add("to")
	v, _ := g.Add("v")
	var list, deep lumigl.Value
	var many []lumigl.Value
	for range 1000 {
		many = append(many, lumigl.ReferenceTo(to))
		deep = lumigl.ListOf(deep)
	}
	list = lumigl.ListOf(many...)
	v.Properties = lumigl.ObjectOf(
		lumigl.Member{Key: "many", Value: list}, lumigl.Member{Key: "deep", Value: deep},
		lumigl.Member{Key: "long", Value: lumigl.TextOf(strings.Repeat("ä", 5000))},
	)
	data := dataOf(t, drawn(t, "html", g, render.Options{}))
	for _, want := range []string{`["more",800]`, `["more",1]`, `ä…"`, `["many[0]","many[1]","many[2]"],997`} {
		if !strings.Contains(data, want) {
			t.Errorf("page does not contain %s", want)
		}
	}
	if len(data) > 30_000 {
		t.Errorf("page has %d bytes of data, want at most 30000", len(data))
	}
	if text := drawn(t, "dot", g, render.Options{}); !strings.Contains(text, `[label="many[0]\nmany[1]\nmany[2]\nand 997 more"]`) {
		t.Errorf("DOT does not abridge the label:\n%s", text)
	}
}

// mermaidLine matches a valid line of a flowchart.
var mermaidLine = regexp.MustCompile(`^(flowchart LR|  n\d+\["[^"<>]+(<br/>[^"<>]+)?"\]|  n\d+ -->\|"[^"<>]+(<br/>[^"<>]+)*"\| n\d+)$`)

func FuzzRender(f *testing.F) {
	for _, seed := range []string{"a", `"`, `\`, "a\\\"b\n", "</script><!--", "]]>", "\u2028\u202e", "😀‍👩", "#quot;", "&amp;", "1. x", "- x", "`x`", "שלום", "end", "\x00", "%%{init}%%"} {
		f.Add(seed, seed, seed)
	}
	f.Fuzz(func(t *testing.T, key, property, text string) {
		if !utf8.ValidString(key) || !utf8.ValidString(property) || !utf8.ValidString(text) {
			t.Skip()
		}
		g := &lumigl.Graph{}
		v, _ := g.Add(key)
		other := must.Get(g.Add(key + "'"))(t)
		v.Properties = lumigl.ObjectOf(lumigl.Member{Key: property, Value: lumigl.ReferenceTo(other)},
			lumigl.Member{Key: property + "'", Value: lumigl.TextOf(text)})
		o := render.Options{Title: text}
		if nodes, edges := dotOf(t, drawn(t, "dot", g, o)); len(nodes) != 2 || edges != 1 {
			t.Errorf("DOT has %d nodes and %d edges, want 2 and 1", len(nodes), edges)
		}
		for _, line := range strings.Split(strings.TrimSuffix(drawn(t, "mmd", g, o), "\n"), "\n") {
			if !mermaidLine.MatchString(line) {
				t.Errorf("Mermaid has the invalid line %q", line)
			}
		}
		var page struct {
			Nodes []struct{ Key string }
		}
		must.Do(t, json.Unmarshal([]byte(dataOf(t, drawn(t, "html", g, o))), &page))
		if page.Nodes[0].Key != key {
			t.Errorf("key of the first node = %q, want %q", page.Nodes[0].Key, key)
		}
	})
}
