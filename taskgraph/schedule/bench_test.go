package schedule_test

import (
	"fmt"
	"testing"

	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
)

func BenchmarkNew(b *testing.B) {
	for _, tasks := range []int{100, 200} {
		b.Run(fmt.Sprintf("%dx100", tasks), func(b *testing.B) {
			var in schedule.Input
			everywhere, err := taskgraph.NewSelector("*")
			if err != nil {
				b.Fatal(err)
			}
			for i := range tasks {
				s := &taskgraph.Spec{ID: fmt.Sprintf("t%d", i), Type: "shell", Roles: everywhere}
				if i > 0 {
					s.CrossDepends = []taskgraph.Cross{{Name: fmt.Sprintf("t%d", i-1), Role: everywhere}}
				}
				in.Tasks = append(in.Tasks, s)
			}
			for i := range 100 {
				in.Nodes = append(in.Nodes, inventory.Node{Name: fmt.Sprintf("n%d", i), Roles: []string{"web"}})
			}
			b.ReportAllocs()
			for b.Loop() {
				s, err := schedule.New(in)
				if err != nil || len(s.Items) != tasks*100 {
					b.Fatalf("New = %d items, %v, want %d", len(s.Items), err, tasks*100)
				}
			}
		})
	}
}
