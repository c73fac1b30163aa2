package cluster_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/convert"
	"github.com/lumi-idl/lumi/test/bench/cluster"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestWrite(t *testing.T) {
	for resources, want := range map[int]int{0: 0, 1: 4, 4: 4, 5: 8, 1000: 1000} {
		var b strings.Builder
		must.Do(t, cluster.Write(&b, resources))
		s := must.Get(lumigl.ParseSnapshot(b.String()))(t)
		references := 0
		for r := range s.Vertices() {
			for range r.Properties.References() {
				references++
			}
		}
		if s.Len() != want || references != want {
			t.Errorf("Write(%d) wrote %d resources and %d references, want %d of each", resources, s.Len(), references, want)
		}
	}
}

func TestWriteChanged(t *testing.T) {
	parse := func(first int, differs func(int) bool) *lumigl.Snapshot {
		var b strings.Builder
		must.Do(t, cluster.WriteChanged(&b, first, 40, differs))
		return must.Get(lumigl.ParseSnapshot(b.String()))(t)
	}
	old := parse(0, func(int) bool { return false })
	new := parse(0, func(i int) bool { return i%5 == 0 })
	differ := 0
	for r := range new.Vertices() {
		if !r.Properties.Equal(old.Vertex(r.Key()).Properties) {
			differ++
		}
	}
	if differ != 4 {
		t.Errorf("WriteChanged changed %d resources, want 4", differ)
	}
	for r := range parse(10, func(int) bool { return false }).Vertices() {
		if old.Vertex(r.Key()) != nil {
			t.Errorf("WriteChanged from cluster 10 wrote %s, which is in clusters 0 to 9", r.Key())
		}
	}
}

func TestForeign(t *testing.T) {
	for from, c := range map[convert.Format]struct {
		write func(io.Writer, int) error
		typed any
	}{
		convert.Pulumi:   {cluster.WritePulumi, &cluster.TypedPulumi{}},
		convert.OpenTofu: {cluster.WriteOpenTofu, &cluster.TypedOpenTofu{}},
	} {
		var b bytes.Buffer
		must.Do(t, c.write(&b, 40))
		result := must.Get(convert.Convert(b.String(), convert.Options{}))(t)
		if n := result.Snapshot.Len(); result.From != from || n != 40 || result.Linked != 40 {
			t.Errorf("Convert(%s) = %d resources from %s with %d links, want 40 with 40 links", from, n, result.From, result.Linked)
		}
		decoder := json.NewDecoder(&b)
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(c.typed); err != nil {
			t.Errorf("decoding %s: %v", from, err)
		}
	}
}
