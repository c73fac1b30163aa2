package tasktype_test

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/run"
	"github.com/lumi-idl/lumi/taskgraph/tasktype"
)

// service is a task type that restarts a service.
type service struct{}

func (service) Check(parameters map[string]any) []string {
	if name, _ := parameters["name"].(string); name == "" {
		return []string{"missing parameter name"}
	}
	return nil
}

func (service) Run(ctx context.Context, c *tasktype.Call) error {
	return c.Command(ctx, "restart", fmt.Sprintf("echo restarting %s on $LUMI_NODE", c.Task.Parameters["name"]), "")
}

// Custom types are added to the registry.
func Example() {
	types := tasktype.Builtin()
	types["service"] = service{}
	fmt.Println(slices.Sorted(maps.Keys(types)))

	check, _ := types.Check("service")
	fmt.Println(check(nil))

	x := &tasktype.Executor{Types: types}
	defer func() { _ = x.Close() }()
	err := x.Execute(context.Background(), run.Work{
		Environment: "dev", Run: 1, Token: exampleToken, Node: &inventory.Node{Name: "here", Local: true},
		Task: &taskgraph.Spec{ID: "restart", Type: "service", Parameters: map[string]any{"name": "nginx"}},
		Log:  func(level, message string) { fmt.Println(level, message) },
	})
	fmt.Println(err)
	// Output:
	// [anchor copy_files group puppet reboot service shell skipped stage sync upload_file]
	// [missing parameter name]
	// info restarting nginx on here
	// <nil>
}
