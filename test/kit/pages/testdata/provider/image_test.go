package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
)

func TestImage(t *testing.T) {
	h := providertest.InProcess(t, providertest.Resources(NewImages(&Store{Dir: t.TempDir()})))
	h.Resource(Image, "disk").Life(t, providertest.Life{
		Create: providertest.Properties{"name": "disk", "size": 10, "unit": UnitMB},
		Updates: []providertest.Change{
			{Set: providertest.Properties{"size": 20, "mode": "640"}},
			{Set: providertest.Properties{"mode": nil}, Expect: providertest.Properties{"size": 20}},
		},
		Replaces: []providertest.Replacement{
			{Set: providertest.Properties{"size": 5}, Because: []lumi.Path{"size"}},
			{Set: providertest.Properties{"name": "other"}, Because: []lumi.Path{"name"}},
		},
		Ignores: []providertest.Properties{{"size": 0.01, "unit": UnitGB}},
		Upgrades: []providertest.Upgrade{{Stored: providertest.Properties{
			"size": "5 MB", "unit": nil, "mode": nil, "permissions": "600",
		}}},
	})
}

func TestImageFaults(t *testing.T) {
	h := providertest.InProcess(t, providertest.Resources(NewImages(&Store{Dir: t.TempDir()})))
	h.Resource(Image, "disk").Check(t, providertest.Properties{"name": "disk", "size": 0, "unit": UnitMB, "mode": "8"},
		providertest.WantFaults("size: must be positive", "mode: must consist of three octal digits"))
}

func TestImagePartialUpdate(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "disk"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := NewImages(&Store{Dir: dir}).Update(t.Context(), &lumi.UpdateRequest{
		URN: urnOf("files:index:Image", "disk"), ID: "disk",
		Old: bag(t, values{"name": "disk", "size": 1, "unit": "MB", "mode": "600"}),
		New: bag(t, values{"name": "disk", "size": 2, "unit": "MB", "mode": "rw"}),
	})
	partial := new(lumi.PartialError)
	if !errors.As(err, &partial) {
		t.Fatalf("got %v, want a partial error", err)
	}
	if got, want := partial.Properties.String(), `{"mode":"600","name":"disk","size":2,"unit":"MB"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestImageJudgesChanges(t *testing.T) {
	inspect := func(size, unit, name any) *lumi.InspectChangeResponse {
		resp, err := NewImages(&Store{Dir: t.TempDir()}).InspectChange(t.Context(), &lumi.InspectChangeRequest{
			URN: urnOf("files:index:Image", "disk"), ID: "disk",
			Old: bag(t, values{"name": "disk", "size": 1000, "unit": "MB"}),
			New: bag(t, values{"name": name, "size": size, "unit": unit}),
		})
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	same := inspect(1, "GB", "disk")
	if got := same.Properties.String(); len(same.Changes) > 0 || got != `{"name":"disk","size":1000,"unit":"MB"}` {
		t.Errorf("got changes %v, properties %s", same.Changes, got)
	}
	if smaller := inspect(999, "MB", "disk"); len(smaller.Replaces) != 1 || !smaller.DeleteBeforeReplace {
		t.Errorf("got %+v", smaller)
	}
	if other := inspect(999, "MB", "other"); len(other.Replaces) != 2 || other.DeleteBeforeReplace {
		t.Errorf("got %+v", other)
	}
	if unknown := inspect(lumi.NewUnknown().AsInterface(), "MB", "disk"); len(unknown.Replaces) != 1 {
		t.Errorf("got %+v", unknown)
	}
}

func TestImageUpgrade(t *testing.T) {
	images := NewImages(&Store{Dir: t.TempDir()})
	req := &lumi.InspectChangeRequest{
		URN: urnOf("files:index:Image", "disk"), ID: "disk",
		Old: bag(t, values{"name": "disk", "size": "10 MB", "permissions": "640"}),
		New: bag(t, values{"name": "disk", "size": 10, "unit": "MB", "mode": "640"}),
	}
	resp, err := images.InspectChange(t.Context(), req)
	if err != nil || len(resp.Changes) > 0 {
		t.Errorf("got %v, %v", resp, err)
	}
	req.Old = bag(t, values{"name": "disk", "size": "big"})
	_, err = images.InspectChange(t.Context(), req)
	if err == nil || !strings.HasPrefix(err.Error(), `upgrading the stored properties: cannot read the size "big": `) {
		t.Errorf("got %v", err)
	}
}
