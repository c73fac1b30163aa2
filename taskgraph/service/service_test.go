package service_test

import (
	"context"
	"testing"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/run"
	"github.com/lumi-idl/lumi/taskgraph/service"
	"github.com/lumi-idl/lumi/taskgraph/tasktype"
)

// TestSkeleton runs a graph from its text to the shell.
func TestSkeleton(t *testing.T) {
	s := memory.New()
	if err := s.Write(t.Context(), func(tx store.Tx) error { return tx.PutEnvironment(store.Environment{Name: "dev"}) }); err != nil {
		t.Fatal(err)
	}
	g, err := taskgraph.Parse([]byte("tasks:\n- {id: b, type: shell, requires: [a], parameters: {cmd: cat a}}\n"+
		"- {id: a, type: shell, parameters: {cmd: echo hello >a}}"), "tasks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	g.Type = taskgraph.DefaultType
	var said string
	engine := run.New(run.Options{
		Store: s, Environment: "dev", Executor: &tasktype.Executor{Types: tasktype.Builtin(), Folder: t.TempDir()},
		Events: func(e store.Event) { said += e.URN + " " + string(e.State) + e.Message + "\n" },
	})
	api := &service.Service{
		Store: s, Types: tasktype.Builtin(), Engine: func(string) *run.Engine { return engine },
		Inventory: func(context.Context, string) (*inventory.Inventory, error) {
			return &inventory.Inventory{Nodes: []inventory.Node{{Name: "here", Local: true}}}, nil
		},
	}
	if _, err := api.Create(t.Context(), store.Owner{Layer: store.ClusterLayer, Environment: "dev"}, *g); err != nil {
		t.Fatal(err)
	}
	r, err := api.Start(t.Context(), "dev", service.RunRequest{Type: taskgraph.DefaultType})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := engine.Run(t.Context(), r.ID); err != nil || d.State != store.Done {
		t.Fatal(d, err)
	}
	if want := "here/a STARTED\nhere/a DONE\nhere/b STARTED\nhere/b hello\nhere/b DONE\n"; said != want {
		t.Errorf("got\n%swant\n%s", said, want)
	}
}
