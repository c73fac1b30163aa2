package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestConformance(t *testing.T) {
	needTofu(t)
	workspace := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(workspace, settingsFile), []byte(data), 0o600))
	// This type is built into tofu. A provider would double the time of each call.
	r := providertest.ProvisionerResource("test:index:Data", "data", provisioner.Properties{
		"input": map[string]any{"text": provisioner.Secret{Value: "hunter2"}, "null": nil},
	})
	providertest.RunProvisioner(t, providertest.Provisioner{
		Command: plugin.Command{Path: build(t), Dir: workspace},
		Changes: []provisioner.Change{{New: []*provisioner.Resource{r}}},
		Observe: func() (string, error) {
			state, err := os.ReadFile(filepath.Join(workspace, ".lumi", "opentofu", "test", "app", stateFile))
			var shown struct {
				Resources []struct {
					Type      string
					Instances []struct{ Attributes struct{ Input any } }
				}
			}
			if err == nil {
				err = json.Unmarshal(state, &shown)
			}
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return fmt.Sprintf("%+v", shown), err
		},
	})
}

func TestEngine(t *testing.T) {
	needTofu(t)
	workspace := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(workspace, settingsFile), []byte(data), 0o600))
	g := must.Get(lumigl.ParseSnapshot(fmt.Sprintf(`{"package": "site", "resources": {
		"urn:lumi:dev::site:index::random:index:Pet::x": {"type": "random:index:Pet", "properties": {"length": 2}},
		"urn:lumi:dev::site:index::test:index:Data::d": {"type": "test:index:Data", "properties": {"input": {
			"pet": {"#ref": "urn:lumi:dev::site:index::random:index:Pet::x", "property": "id"},
			"secret": {%q: %q, "value": "hunter2"}
		}}}
	}}`, wire.Signature, wire.Secret)))(t)
	in := plan.Input{Environment: "dev", Module: "site"}
	for v := range g.Vertices() {
		in.New = append(in.New, plan.Vertex{Resource: &graph.Resource{URN: v.URN(), Deployment: 1, Inputs: v.Properties}})
	}
	e := &provision.External{Name: "opentofu", Command: func(string) (plugin.Command, error) {
		return plugin.Command{Path: os.Args[0], Env: append(os.Environ(), pluginVariable+"=1"), Dir: workspace, Log: os.Stderr}, nil
	}}
	token := must.Get(e.Provision(t.Context(), in))(t)
	status := must.Get(e.Status(t.Context(), token))(t)
	pet, _ := status.Metadata["site:random:index:Pet::x:1"].Get("id").Text()
	output := status.Metadata["site:test:index:Data::d:1"].Get("output")
	got, _ := output.Get("pet").Text()
	secret, _ := output.Get("secret").Get("value").Text()
	if status.State != plan.Done || pet == "" || got != pet || secret != "hunter2" || !output.Get("secret").IsSecret() {
		t.Errorf("Status = %+v, want state %v, a pet, and its id and a secret in the output", status, plan.Done)
	}
}
