// Package local defines files, directories, commands and random values on the machine that runs the deployment. It
// needs no account and no configuration.
//
// Relative paths start from the program's folder. Nothing outside the paths in a program is created, changed or
// deleted, parent directories included. Existing files and directories are never taken over.
package local

//go:generate go run github.com/lumi-idl/lumi/cmd/cidlc . --out-pack --out-provider --out-schema=../schema.json
