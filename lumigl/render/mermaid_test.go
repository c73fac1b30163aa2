package render_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/render"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestMermaidIcons(t *testing.T) {
	t.Parallel()
	g := &lumigl.Graph{}
	must.Get(g.Add("fa:fa-car"))(t)
	if diff := cmp.Diff("flowchart LR\n  n0[\"fa:fa#45;car\"]\n", drawn(t, "mmd", g, render.Options{})); diff != "" {
		t.Errorf("Mermaid mismatch (-want +got):\n%s", diff)
	}
}

func TestMermaidParses(t *testing.T) {
	t.Parallel()
	const folder = "testdata/mermaid"
	if _, err := os.Stat(folder + "/node_modules/mermaid"); err != nil {
		t.Skipf("Mermaid is not installed; run 'npm ci --prefix lumigl/render/%s'", folder)
	}
	var texts []string
	type understood struct {
		Nodes  []string `json:"nodes"`
		Arrows int      `json:"arrows"`
	}
	var want []understood
	for _, name := range []string{"snapshot", "graph", "hostile"} {
		for _, cluster := range []render.Cluster{render.NoCluster, render.ByType} {
			doc := parse(t, name+".json")
			o := render.Options{Cluster: cluster}
			texts = append(texts, drawn(t, "mmd", doc, o))
			u := understood{Arrows: arrows(doc)}
			for _, v := range render.Summarize(doc, o).Vertices {
				text := v.Name
				if v.Type != "" {
					text += "<br>" + v.Type
				}
				u.Nodes = append(u.Nodes, text)
			}
			want = append(want, u)
		}
	}
	input := must.Get(json.Marshal(texts))(t)
	cmd := exec.Command("node", folder+"/parse.mjs")
	cmd.Stdin = bytes.NewReader(input)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("parsing with Mermaid: %v\n%s", err, said.String())
	}
	var got []understood
	must.Do(t, json.Unmarshal(out, &got))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parsed flowcharts mismatch (-want +got):\n%s", diff)
	}
}
