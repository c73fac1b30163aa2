package adopt_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lumi-idl/lumi/deploy/adopt"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/golden"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/node"
)

// types describes some types of examples/aws, whose package the programs are checked against.
var types = map[tokens.Type]*lumi.Description{
	"aws:ec2:VPC": {Named: true, Properties: []lumi.Property{
		{Name: "tags", Kind: lumi.KindMap}, {Name: "name", Kind: lumi.KindString, Required: true}, {Name: "cidrBlock", Kind: lumi.KindString, Required: true},
		{Name: "enableDNSSupport", Kind: lumi.KindBool}, {Name: "ipv6CIDRBlocks", Kind: lumi.KindList, Flags: lumi.Out},
	}},
	"aws:ec2:Subnet": {Named: true, Properties: []lumi.Property{
		{Name: "tags", Kind: lumi.KindMap}, {Name: "name", Kind: lumi.KindString, Required: true}, {Name: "vpc", Kind: lumi.KindCapability, Required: true},
		{Name: "cidrBlock", Kind: lumi.KindString, Required: true}, {Name: "availabilityZone", Kind: lumi.KindString, Flags: lumi.Computed},
	}},
	"aws:iam:User": {Named: true, Properties: []lumi.Property{
		{Name: "name", Kind: lumi.KindString, Required: true}, {Name: "tags", Kind: lumi.KindMap}, {Name: "password", Kind: lumi.KindString, Flags: lumi.Secret},
	}},
	"aws:ec2/vpc:VPC": {Named: true, Properties: []lumi.Property{
		{Name: "name", Kind: lumi.KindString, Required: true}, {Name: "cidrBlock", Kind: lumi.KindString, Required: true, Flags: lumi.Secret},
		{Name: "enableDNSSupport", Kind: lumi.KindBool, Required: true, Flags: lumi.Secret},
	}},
	"aws:sqs:Queue": {Named: true, Properties: []lumi.Property{
		{Name: "name", Kind: lumi.KindString, Required: true}, {Name: "tags", Kind: lumi.KindMap}, {Name: "visibilityTimeout", Kind: lumi.KindNumber},
	}},
	"aws:s3:Bucket": {Named: true, Properties: []lumi.Property{{Name: "name", Kind: lumi.KindString, Required: true}}},
	"aws:s3:BucketObject": {Properties: []lumi.Property{
		{Name: "bucket", Kind: lumi.KindCapability, Required: true}, {Name: "key", Kind: lumi.KindString},
		{Name: "source", Kind: lumi.KindAsset, Required: true}, {Name: "contentType", Kind: lumi.KindString},
	}},
	"aws:lambda:Function": {Named: true, Properties: []lumi.Property{
		{Name: "name", Kind: lumi.KindString, Required: true}, {Name: "tags", Kind: lumi.KindMap}, {Name: "code", Kind: lumi.KindArchive, Flags: lumi.In, Required: true},
		{Name: "handler", Kind: lumi.KindString, Required: true}, {Name: "runtime", Kind: lumi.KindString, Required: true},
		{Name: "role", Kind: lumi.KindCapability, Required: true}, {Name: "description", Kind: lumi.KindString},
		{Name: "environment", Kind: lumi.KindObject}, {Name: "settings", Kind: lumi.KindAsset}, {Name: "memorySize", Kind: lumi.KindNumber},
		{Name: "vpc", Kind: lumi.KindObject},
	}},
}

// world is a provider with the resources in a file, by id.
type world struct {
	plan.Provider
	real lumigl.Value
}

func (w *world) Get(_ context.Context, r plan.Existing) (inputs, outputs lumigl.Value, err error) {
	v := w.real.Get(r.ID)
	if !v.Exists() {
		return v, v, lumi.ErrNotFound
	}
	return v, lumigl.ObjectOf(lumigl.Member{Key: "arn", Value: lumigl.TextOf("arn:" + r.ID)}), nil
}

// Check fills in two defaults. It rejects unknown secrets of resources, and references without ids. Only look-ups, whose names
// are their ids, have no properties.
func (w *world) Check(_ context.Context, r plan.CheckRequest) (lumigl.Value, error) {
	if len(r.Seed) > 0 || r.Old.Exists() {
		return lumigl.Value{}, errors.New("unexpected seed or old properties")
	}
	for target := range r.Properties.References() {
		if to := r.References[target.URN()]; to.ID == "" || !to.Properties.Get("arn").Exists() && to.ID != target.URN().Name() {
			return lumigl.Value{}, errors.New("unresolved reference " + string(target.URN()))
		}
	}
	switch {
	case r.URN.Type() == "aws:lambda:Function" && !r.Properties.Get("memorySize").Exists():
		r.Properties = r.Properties.With("memorySize", lumigl.IntOf(128))
	case r.URN.Type() == "aws:ec2:VPC" && !r.Properties.Get("enableDNSSupport").Exists():
		r.Properties = r.Properties.With("enableDNSSupport", lumigl.BoolOf(true))
	}
	return r.Properties, nil
}

// Each file contains real resources and those to import, as lines of a type, a name or "-", an id, and references, such as
// VPC_ID=vpc-1. The want file is the program, followed by what is left out and the lists of the program. All programs
// type-check.
func TestProgram(t *testing.T) {
	pack := must.Get(filepath.Abs("../../examples/aws/pack/index.js"))(t)
	dir := t.TempDir()
	var files []string
	golden.Archives(t, "testdata/*.txtar", func(t *testing.T, a *txtar.Archive) {
		w := &world{real: must.Get(lumigl.Parser{}.ParseValue(string(a.Files[0].Data)))(t)}
		var resources []*adopt.Resource
		for line := range strings.Lines(string(a.Files[1].Data)) {
			f := strings.Fields(line)
			one := &adopt.Resource{Type: tokens.Type(f[0]), Name: strings.TrimPrefix(strings.ReplaceAll(f[1], "_", " "), "-"), ID: f[2], Refers: map[string]*adopt.Resource{}}
			for _, refers := range f[3:] {
				name, id, _ := strings.Cut(refers, "=")
				one.Refers[name] = resources[slices.IndexFunc(resources, func(o *adopt.Resource) bool { return o.ID == id })]
			}
			resources = append(resources, one)
		}
		var progress atomic.Int32
		read, err := adopt.Read(t.Context(), adopt.Request{
			Environment: "dev", Module: "shop", Resources: resources, Provider: w, Progress: func() { progress.Add(1) },
			Describe: func(_ context.Context, of tokens.Type) (*lumi.Description, error) { return types[of], nil },
		})
		if err != nil {
			golden.Part(t, &a.Files[2], err.Error()+"\n")
			return
		}
		if got := int(progress.Load()); got != len(resources) {
			t.Errorf("calls of Progress = %d, want %d", got, len(resources))
		}
		p := adopt.Write(read, func(string) string { return "PACK" })
		file := filepath.Join(dir, strings.TrimSuffix(a.Files[2].Name, ".ts")+".mts")
		files = append(files, file)
		must.Do(t, os.WriteFile(file, []byte(strings.Replace(p.Text, "PACK", pack, 1)), 0o644))
		text := p.Text
		for _, one := range read {
			if len(one.LeftOut) > 0 {
				text += "// left out of " + one.ID + ": " + strings.Join(one.LeftOut, ", ") + "\n"
			}
		}
		golden.Part(t, &a.Files[2], text+"// secrets: "+strings.Join(p.Secrets, ", ")+"\n// undefined: "+strings.Join(p.Undefined, ", ")+"\n")
	})
	node.TypeCheck(t, "../..", files)
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	_, err := adopt.Read(ctx, adopt.Request{
		Environment: "dev", Module: "shop", Resources: []*adopt.Resource{{Type: "aws:ec2:VPC", Name: "main", ID: "vpc-1"}}, Provider: &world{},
		Describe: func(_ context.Context, of tokens.Type) (*lumi.Description, error) { return types[of], nil },
	})
	if !errors.Is(err, stopped) {
		t.Errorf("Read with a canceled context = %v, want %v", err, stopped)
	}
}
