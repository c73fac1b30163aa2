package local

import "github.com/lumi-idl/lumi/idl"

// A Command is what a command makes, for everything that no other resource does. A command that ends with an exit code
// other than 0 must have changed nothing, or be able to run again. Commands start in the program's folder, and have the
// environment of the deployment.
type Command struct {
	idl.NamedResource
	// The command that creates the resource.
	Create string
	// The command that changes the resource if anything but update and delete changes. By default, the resource is
	// replaced: deleted and created again. It may run more than once for the same change. LUMI_STDOUT in its environment
	// is the resource's stdout of before, up to 64 KiB.
	Update *string `lumi:"optional"`
	// The command that deletes the resource. It may run more than once, and must not fail if there is nothing to delete.
	// It also has LUMI_STDOUT.
	Delete *string `lumi:"optional"`
	// Variables for the commands, besides those that the deployment has.
	Environment *map[string]string `lumi:"optional"`
	// What else the resource depends on, such as the checksum of a file, by any names. A change has the resource updated or replaced.
	Triggers *map[string]any `lumi:"optional"`
	// The program, with arguments, that gets each command as its last argument. The default is /bin/sh -c, and on Windows
	// cmd /C.
	Interpreter *[]string `lumi:"optional"`
	// What the command that created the resource wrote to standard output, or the last one that updated it, if that wrote
	// anything: up to 1 MiB, without newlines at the end.
	Stdout string `lumi:"out"`
}
