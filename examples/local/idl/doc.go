// Package local describes files, directories, commands and random values on the machine where a deployment runs. It needs
// no account and no configuration.
//
// A relative path starts from the program's folder. Nothing outside of the paths in a program is created, changed or
// deleted, the directories that a path leads through included. What exists at a path already is never taken over.
package local

//go:generate go run github.com/lumi-idl/lumi/cmd/cidlc . --out-pack --out-provider --out-schema=../schema.json
