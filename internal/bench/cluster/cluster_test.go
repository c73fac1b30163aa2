package cluster_test

import (
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/internal/bench/cluster"
	"github.com/lumi-idl/lumi/lumigl"
)

func TestWrite(t *testing.T) {
	for resources, want := range map[int]int{0: 0, 1: 4, 4: 4, 5: 8, 1000: 1000} {
		var b strings.Builder
		if err := cluster.Write(&b, resources); err != nil {
			t.Fatal(err)
		}
		s, err := lumigl.ParseSnapshot(b.String())
		if err != nil {
			t.Fatal(err)
		}
		references := 0
		for r := range s.Vertices() {
			for range r.Properties.References() {
				references++
			}
		}
		if s.Len() != want || references != want {
			t.Errorf("asked for %d resources: %d with %d references", resources, s.Len(), references)
		}
	}
}
