package enginetest

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/pkg/v3/engine"
	"github.com/pulumi/pulumi/pkg/v3/engine/lifecycletest/framework"
	"github.com/pulumi/pulumi/pkg/v3/resource/deploy"
	"github.com/pulumi/pulumi/pkg/v3/resource/deploy/deploytest"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag/colors"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const fileType, boxType, lidType tokens.Type = "local:index:File", "acme_traps:index:Box", "acme_traps:index:Lid"

// TestLife leads a file through all operations.
func TestLife(t *testing.T) {
	s := newStack(t)
	path, path2 := filepath.Join(s.dir, "a.txt"), filepath.Join(s.dir, "b.txt")
	file := func(path, content string) program {
		return one(fileType, "a", map[string]any{"path": path, "content": content})
	}
	s.up("create a", file(path, "one"))
	s.up("same a", file(path, "one"))
	s.must("same a", engine.Refresh, nil)
	s.up("update a", file(path, "two"))
	expect.Equal(t, "two", string(must.Get(os.ReadFile(path))(t)))
	s.up("create-replacement a, replace a, delete-replaced a", file(path2, "two"))
	expect.Equal(t, "two", string(must.Get(os.ReadFile(path2))(t)))
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("Stat = %v, want not to exist", err)
	}

	must.Do(t, os.WriteFile(path2, []byte("drifted"), 0o600))
	s.must("update a", engine.Refresh, nil)
	expect.Equal(t, "drifted", s.state("a").Inputs["content"].StringValue())
	s.up("update a", file(path2, "two"))
	expect.Equal(t, "two", string(must.Get(os.ReadFile(path2))(t)))
	must.Do(t, os.Remove(path2))
	s.must("delete a", engine.Refresh, nil)
	s.up("create a", file(path2, "two"))

	s.must("delete a", engine.Destroy, nil)
	if _, err := os.Stat(path2); !os.IsNotExist(err) {
		t.Errorf("Stat = %v, want not to exist", err)
	}
}

func TestImport(t *testing.T) {
	s := newStack(t)
	path := filepath.Join(s.dir, "a.txt")
	must.Do(t, os.WriteFile(path, []byte("one"), 0o644))
	s.must("import a", framework.ImportOp([]deploy.Import{{Type: fileType, Name: "a", ID: resource.ID(path)}}), nil)
	// The program has no stack, which the import has made.
	s.up("same a, delete test-test", one(fileType, "a", map[string]any{"path": path, "content": "one"}))
	adopt := func(m *deploytest.ResourceMonitor) error {
		options := inputs(map[string]any{"path": path, "content": "one"})
		options.ImportID = resource.ID(path)
		_, err := m.RegisterResource(fileType, "b", true, options)
		return err
	}
	s.snap = nil
	s.up("import b", adopt)
	s.up("same b", adopt)
}

// TestReplace replaces a box that cannot exist twice, and one that gets its name from a seed.
func TestReplace(t *testing.T) {
	s := newStack(t)
	box := func(file string) program {
		text := must.Get(resource.NewTextAsset(file))(t)
		archive := must.Get(resource.NewAssetArchive(map[string]any{"f": text}))(t)
		return configured("north", func(m *deploytest.ResourceMonitor, provider string) error {
			_, err := m.RegisterResource(boxType, "box", true, deploytest.ResourceOptions{
				Provider: provider, Inputs: resource.PropertyMap{"files": resource.NewArchiveProperty(archive)},
			})
			return err
		})
	}
	s.up("create north, create box", box("one"))
	label := s.state("box").Outputs["label"].StringValue()
	s.up("same north, same box", box("one"))
	s.up("same north, delete-replaced box, replace box, create-replacement box", box("two"))
	if again := s.state("box").Outputs["label"].StringValue(); again == label || !strings.HasPrefix(again, "box-") {
		t.Errorf("the label is %s, want one generated from another seed than for %s", again, label)
	}
}

// configured returns a program with a provider of package traps.
func configured(region string, p func(m *deploytest.ResourceMonitor, provider string) error) program {
	return func(m *deploytest.ResourceMonitor) error {
		provider, err := m.RegisterResource("pulumi:providers:acme_traps", "north", true, inputs(map[string]any{"region": region, "key": "k"}))
		if err != nil {
			return err
		}
		return p(m, string(provider.URN)+"::"+string(provider.ID))
	}
}

// TestClose closes a plugin, which the engine would kill after 5 seconds.
func TestClose(t *testing.T) {
	s := newStack(t)
	start, done := s.host(nil)
	host := start()
	defer func() { must.Do(t, host.Close()) }()
	must.Get(host.Provider(nil, workspace.PluginDescriptor{Name: "local"}, nil))(t)
	began := time.Now()
	done()
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("Close took %s, want less than 4 seconds", took)
	}
}

// TestEngineGone closes the server of the engine without telling the plugin.
func TestEngineGone(t *testing.T) {
	s := newStack(t)
	sink := diag.DefaultSink(io.Discard, io.Discard, diag.FormatOptions{Color: colors.Never})
	host := deploytest.NewPluginHost(sink, sink, nil)
	cmd := exec.CommandContext(t.Context(), s.bin("local"), host.ServerAddr())
	cmd.Stdout = new(bytes.Buffer)
	must.Do(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		t.Fatalf("the plugin ended with %v although its engine answers", err)
	case <-time.After(2 * time.Second):
	}
	must.Do(t, host.Close())
	if err := <-ended; err != nil {
		t.Errorf("the plugin ended with %v, want no error", err)
	}
}
