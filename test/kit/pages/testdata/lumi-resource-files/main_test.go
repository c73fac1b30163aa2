package main

import (
	"testing"

	files "example.com/files/provider"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
)

func TestBinary(t *testing.T) {
	command := plugin.Command{Path: providertest.Build(t, ".")}
	h := providertest.Binary(t, command, providertest.Config(providertest.Properties{"folder": t.TempDir()}))
	h.Resource(files.File, "notes").Life(t, providertest.Life{
		Create:  providertest.Properties{"name": "notes.txt", "text": "one"},
		Updates: []providertest.Change{{Set: providertest.Properties{"text": "two"}}},
	})
}
