package local

import "github.com/lumi-idl/lumi/idl"

// A Command is the result of a shell command, for tasks that no other resource covers. A command that fails must have
// changed nothing or be safe to run again. Commands run in the program's folder with the deployment's environment.
type Command struct {
	idl.NamedResource
	// The command that creates the resource.
	Create string
	// The command that updates the resource when a property other than update or delete changes. By default, the
	// resource is replaced. It may run more than once for the same change. LUMI_STDOUT in its environment is the
	// resource's previous stdout, up to 64 KiB.
	Update *string `lumi:"optional"`
	// The command that deletes the resource. It may run more than once and must succeed if there is nothing to delete.
	// LUMI_STDOUT is set as for update.
	Delete *string `lumi:"optional"`
	// Environment variables for the commands, in addition to the deployment's.
	Environment *map[string]string `lumi:"optional"`
	// Additional values that the resource depends on, such as a file's checksum, by arbitrary names. A change updates
	// or replaces the resource.
	Triggers *map[string]any `lumi:"optional"`
	// The program and its arguments. Each command is appended as the last argument. The default is /bin/sh -c, or cmd
	// /C on Windows.
	Interpreter *[]string `lumi:"optional"`
	// The standard output of the create command, or of the last update command that wrote any, up to 1 MiB and without
	// trailing newlines.
	Stdout string `lumi:"out"`
}
