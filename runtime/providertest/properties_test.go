package providertest_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
)

// Properties can be created from generated structs and from Go values.
func TestFrom(t *testing.T) {
	t.Parallel()
	h := providertest.InProcess(t, store(newCloud()))
	typed := &volume{
		Name: "data", Zone: "a", Size: 10, Disks: []disk{{Label: "one"}}, Image: new(lumi.TextAsset("boot")),
		Tags: map[string]string{}, ARN: "which is computed",
		Policy: map[string]any{"a": []any{1.0, nil, true}, "b": map[string]any{"c": "d"}},
	}
	v := h.Resource(volumeToken, "data")
	got := v.Check(t, providertest.From(t, typed))
	want := v.Check(t, providertest.Properties{
		"name": new("data"), "zone": zone("a"), "size": uint8(10), "disks": []*disk{{Label: "one"}},
		"image": lumi.TextAsset("boot"), "tags": map[string]any{"gone": nil}, "key": (*providertest.Resource)(nil),
		"peers": []*providertest.Resource(nil), "links": map[string]*providertest.Resource(nil), "comment": nil,
		"policy": lumi.BagOf(&structpb.Struct{Fields: map[string]*structpb.Value{
			"a": structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{
				structpb.NewNumberValue(1), structpb.NewNullValue(), structpb.NewBoolValue(true),
			}}),
			"b": structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
				"c": structpb.NewStringValue("d"),
			}}),
		}}),
		"secret": providertest.Secret(nil),
	})
	if diff := cmp.Diff(want.Struct(), got.Struct(), protocmp.Transform()); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
	again := v.Check(t, providertest.Properties{
		"name": "data", "zone": "a", "size": float32(10), "disks": [1]disk{{Label: "one"}},
		"image": lumi.TextAsset("boot"), "tags": providertest.Properties{},
		"policy": providertest.Properties{"a": []any{1, nil, true}, "b": map[string]string{"c": "d"}},
	})
	if diff := cmp.Diff(want.Struct(), again.Struct(), protocmp.Transform()); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
}

type zone string

// Structs that cannot be encoded are reported.
func TestFromInvalid(t *testing.T) {
	report := run(t, func(t providertest.TB) {
		providertest.From(t, &volume{Size: math.NaN(), Zone: "\xff"})
	})
	const want = "cannot encode the properties:\n\tzone: is not valid UTF-8\n\tsize: is not a finite number\n"
	if report != want {
		t.Errorf("report =\n%s\nwant\n%s", report, want)
	}
}

// Differences of properties that a cloud cannot return, and of files, whose hashes Check adds, are excused.
func TestExcusedDifferences(t *testing.T) {
	file := filepath.Join(t.TempDir(), "boot.img")
	if err := os.WriteFile(file, []byte("boot"), 0o600); err != nil {
		t.Fatal(err)
	}
	everywhere(t, func(t *testing.T, h *providertest.Harness) {
		other := h.Resource(volumeToken, "other")
		other.Create(t, small.With(providertest.Properties{"name": "other"}))
		v := h.Resource(volumeToken, "data")
		v.Life(t, providertest.Life{
			Create: small.With(providertest.Properties{
				"key": other, "peers": []any{other, other},
				"links": map[string]any{"up": other}, "image": lumi.FileAsset(file),
				"code": lumi.AssetArchive(map[string]lumi.Content{"main": lumi.FileAsset(file)}),
			}),
			Updates: []providertest.Change{{Set: providertest.Properties{"image": lumi.TextAsset("other")}}},
		})
		v.Check(t, small.With(providertest.Properties{"image": lumi.FileAsset(file + "x")}),
			providertest.WantFaults("image: "+strconv.Quote(file+"x")+": no such file"))
		v.Check(t, small.With(providertest.Properties{"image": lumi.FileAsset(file + "x"), "zone": 7}),
			providertest.WantFaults("zone: expected a string, found a number 7",
				"image: "+strconv.Quote(file+"x")+": no such file"))
	})
}

// Long values are truncated in reports.
func TestLongValues(t *testing.T) {
	report := run(t, func(t providertest.TB) {
		h := providertest.InProcess(t, providertest.Resources(newVolumes(&author{
			volumeOps: &volumeOps{newCloud()},
			get: func(v, _ *volume) (*volume, error) {
				v.Comment = new(strings.Repeat("ä", 1<<20))
				return v, nil
			},
		})))
		h.Resource(volumeToken, "data").Create(t, small)
	})
	if len(report) > 5<<10 || !strings.Contains(report, "äää…\n") {
		t.Errorf("the report has %d bytes, want at most 5 KiB with truncated values", len(report))
	}
}

// Truncated errors do not end in part of a secret.
func TestLongSecret(t *testing.T) {
	for cut := range len("correct horse") {
		report := run(t, func(t providertest.TB) {
			h := providertest.InProcess(t, providertest.Resources(newVolumes(&author{
				volumeOps: &volumeOps{newCloud()},
				create: func(want *volumeState, _ lumi.ID) (lumi.ID, error) {
					return "", errors.New(strings.Repeat("-", 300-cut) + *want.Properties.Password)
				},
			})))
			h.Resource(volumeToken, "data").Create(t, small.With(providertest.Properties{"password": "correct horse"}))
		})
		if strings.Contains(report, "-c") || !strings.Contains(report, "-…") && !strings.Contains(report, "-(") {
			t.Fatalf("report with %d bytes left contains part of the secret:\n%s", cut, report)
		}
	}
}
