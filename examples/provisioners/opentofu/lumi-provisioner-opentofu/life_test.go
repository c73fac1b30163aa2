package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// urnOf returns a URN in module site of environment dev, which all tests use.
func urnOf(t, name string) urn.URN { return urn.URN("urn:lumi:dev::site:index::" + t + "::" + name) }

// resource returns a resource with the given type, name, and version: "random:index:Pet::x:1" is version 1 of x.
func resource(key string, properties provisioner.Properties, dependencies ...urn.URN) *provisioner.Resource {
	at := strings.LastIndexByte(key, ':')
	token, name, _ := strings.Cut(key[:at], "::")
	return &provisioner.Resource{
		Key: "site:" + key, URN: urnOf(token, name), Type: tokens.Type(token), Properties: properties, Dependencies: dependencies,
	}
}

func change(old, new []*provisioner.Resource) *provisioner.Change {
	return &provisioner.Change{Environment: "dev", Module: "site", Old: old, New: new}
}

type resources = []*provisioner.Resource

// site is a workspace with the state of an engine.
type site struct {
	*testing.T
	opentofu
	now resources // resources of the last deployment

	mu       sync.Mutex
	progress []string
}

func newSite(t *testing.T, settings string) *site {
	needTofu(t)
	s := &site{T: t, opentofu: opentofu{t.TempDir()}}
	s.write(settingsFile, settings)
	return s
}

func (s *site) write(name, text string) {
	s.Helper()
	must.Do(s, os.WriteFile(filepath.Join(s.workspace, name), []byte(text), 0o600))
}

func (s *site) context() context.Context {
	return lumi.WithEvents(s.Context(), func(e lumi.Event) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.progress = append(s.progress, e.Message)
	})
}

// deploy changes the module to the given resources and returns their metadata.
func (s *site) deploy(new ...*provisioner.Resource) map[string]provisioner.Properties {
	s.Helper()
	s.progress = nil
	return s.note(must.Get(s.Provision(s.context(), change(s.now, new)))(s), new)
}

// note stores the metadata returned by Status in the resources, and returns it.
func (s *site) note(token string, new resources) map[string]provisioner.Properties {
	s.Helper()
	status := must.Get(s.Status(s.Context(), token))(s)
	if status.State != provisioner.Done {
		s.Fatalf("Status = %+v, want state %v", status, provisioner.Done)
	}
	for _, r := range new {
		r.Metadata = status.Metadata[r.Key]
	}
	s.now = new
	return status.Metadata
}

// fails deploys resources, which must fail, and returns the error message.
func (s *site) fails(new ...*provisioner.Resource) string {
	s.Helper()
	_, err := s.Provision(s.context(), change(s.now, new))
	if err == nil {
		s.Fatal("Provision error = nil, want an error")
	}
	return err.Error()
}

// tofu runs tofu in the module's folder and returns its output.
func (s *site) tofu(args ...string) string {
	s.Helper()
	return string(must.Get((&tofu{command: "tofu", dir: s.folder("dev", "site")}).output(s.Context(), args...))(s))
}

func equal(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

const data = "types: {\"test:index:Data\": terraform_data}\n"

func pet(version int, properties provisioner.Properties) *provisioner.Resource {
	return resource(fmt.Sprintf("random:index:Pet::x:%d", version), properties)
}

func TestLife(t *testing.T) {
	s := newSite(t, data)
	file := filepath.Join(t.TempDir(), "conf")
	petURN := urnOf("random:index:Pet", "x")
	text := provisioner.Interpolation{Parts: []any{`<${"`, provisioner.Reference{URN: petURN, Property: "id"}, "$"}}
	got := s.deploy(
		pet(1, provisioner.Properties{"length": 3.0}),
		resource("local:index:File::app/conf:1", provisioner.Properties{"filename": file, "content": text}, petURN),
		resource("test:index:Data::d:1", provisioner.Properties{"input": map[string]any{
			"json": provisioner.JSON{Value: map[string]any{"<b>": provisioner.Reference{URN: petURN, Property: "length"}, "a": []any{1.0, "<&>"}}},
			"${k}": "%{ v }", "ref": provisioner.Reference{URN: petURN}, "urn": provisioner.Reference{URN: petURN, Property: "urn"},
		}}, petURN))
	name := got["site:random:index:Pet::x:1"]["id"].(string)
	equal(t, strings.Count(name, "-"), 2)
	equal(t, got["site:local:index:File::app/conf:1"]["content"], `<${"`+name+"$")
	equal(t, got["site:test:index:Data::d:1"]["output"], map[string]any{
		"json": `{"<b>":3,"a":[1,"<&>"]}`, "${k}": "%{ v }", "ref": name, "urn": string(petURN),
	})
	equal(t, got["site:local:index:File::app/conf:1"]["tofuAddress"], "local_file.app_conf")
	if all := strings.Join(s.progress, "\n"); !strings.Contains(all, "random_pet.x: Creating...") {
		t.Errorf("progress does not mention the creation of the pet:\n%s", all)
	}
	id := got["site:test:index:Data::d:1"]["id"]

	// Deploying the same values, now as literals, changes nothing.
	same := func() resources {
		return resources{
			pet(1, provisioner.Properties{"length": 3.0}),
			resource("local:index:File::app/conf:1", provisioner.Properties{"filename": file, "content": `<${"` + name + "$"}, petURN),
			resource("test:index:Data::d:1", provisioner.Properties{"input": got["site:test:index:Data::d:1"]["output"]}, petURN),
		}
	}
	again := s.deploy(same()...)
	equal(t, again, got)
	equal(t, strings.Join(s.progress, "\n"), "")

	// One resource is updated in place, and another one is replaced.
	changed := same()
	changed[1] = resource("local:index:File::app/conf:2", provisioner.Properties{"filename": file, "content": "new"})
	changed[2] = resource("test:index:Data::d:2", provisioner.Properties{"input": true})
	got = s.deploy(changed...)
	equal(t, got["site:test:index:Data::d:2"]["id"], id)
	equal(t, got["site:test:index:Data::d:2"]["output"], true)
	content, err := os.ReadFile(file)
	equal(t, string(content), "new")
	equal(t, err, nil)

	// Drift is corrected: a deleted file is created again.
	equal(t, os.Remove(file), nil)
	plan := must.Get(s.Plan(s.context(), change(s.now, s.now)))(t)
	if !strings.Contains(plan.Text, "  # local_file.app_conf will be created\n") || !strings.Contains(plan.Text, "Plan: 1 to add, 0 to change, 0 to destroy.\n") {
		t.Errorf("plan does not create the file:\n%s", plan.Text)
	}
	s.deploy(s.now...)
	equal(t, exists(file), true)

	// One resource is deleted, and then all others.
	s.deploy(changed[0], changed[2])
	equal(t, exists(file), false)
	equal(t, s.tofu("state", "list"), "random_pet.x\nterraform_data.d\n")
	s.deploy()
	equal(t, exists(s.folder("dev", "site")), false)
	token, err := s.Provision(s.context(), change(changed, nil))
	equal(t, token, "")
	equal(t, err, nil)
}

func TestBackend(t *testing.T) {
	states := t.TempDir()
	s := newSite(t, "backend: {local: {path: \""+states+"/{environment}/{module}.tfstate\"}}\n")
	got := s.deploy(pet(1, nil))
	plan := must.Get(s.Plan(s.Context(), change(s.now, resources{pet(2, provisioner.Properties{"length": 4.0})})))(t)
	if !strings.HasSuffix(plan.Text, "Plan: 1 to add, 0 to change, 1 to destroy.\n") {
		t.Errorf("plan does not replace the pet:\n%s", plan.Text)
	}
	lose := func() {
		must.Do(t, os.RemoveAll(filepath.Join(s.workspace, ".lumi")))
	}
	lose()
	equal(t, s.deploy(pet(1, nil)), got)
	lose()
	s.deploy()
	state, err := os.ReadFile(filepath.Join(states, "dev", "site.tfstate"))
	if err != nil || !strings.Contains(string(state), `"resources": []`) {
		t.Errorf("state = %s, %v, want no resources", state, err)
	}
}
