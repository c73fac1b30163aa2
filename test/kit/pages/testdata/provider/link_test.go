package files

import (
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/urn"
)

func TestLink(t *testing.T) {
	store := &Store{Dir: t.TempDir()}
	h := providertest.InProcess(t, providertest.Resources(NewFiles(store), NewLinks(store)))
	notes, others, empty := h.Resource(File, "notes"), h.Resource(File, "others"), h.Resource(File, "empty")
	h.Resource(Link, "early").Check(t, providertest.Properties{"name": "early", "target": notes})
	notes.Create(t, providertest.Properties{"name": "notes.txt", "text": "one"})
	others.Create(t, providertest.Properties{"name": "others.txt", "text": "two"})
	empty.MayBeEmpty("size")
	empty.Create(t, providertest.Properties{"name": "empty.txt", "text": ""})
	h.Resource(Link, "latest").Life(t, providertest.Life{
		Create:   providertest.Properties{"name": "latest", "target": notes},
		Expect:   providertest.Properties{"path": "notes.txt"},
		Replaces: []providertest.Replacement{{Set: providertest.Properties{"target": others}}},
	})
	h.Resource(Link, "nothing").Check(t, providertest.Properties{"name": "nothing", "target": empty},
		providertest.WantFaults("target: empty.txt is empty"))
}

func TestLinkRefersByID(t *testing.T) {
	links := NewLinks(&Store{Dir: t.TempDir()})
	target := urnOf("files:index:File", "notes")
	refs := lumi.References{target: {ID: "notes.txt"}}
	old := bag(t, values{"name": "latest", "target": string(target), "path": "notes.txt"})
	u := urnOf("files:index:Link", "latest")
	if _, err := links.Create(t.Context(), &lumi.CreateRequest{URN: u, Properties: bag(t, values{
		"name": "latest", "target": string(target),
	}), References: refs}); err != nil {
		t.Fatal(err)
	}
	for _, purpose := range []lumi.Purpose{lumi.Refresh, lumi.Import} {
		got, err := links.Get(t.Context(), &lumi.GetRequest{
			ID: "latest", Purpose: purpose, URN: u, Old: old, References: refs,
		})
		if err != nil || got.Properties.Get("target") != string(urn.ByID(File, "notes.txt")) {
			t.Errorf("%s: got %v, %v", purpose, got, err)
		}
	}
	_, err := links.Create(t.Context(), &lumi.CreateRequest{URN: u, Properties: bag(t, values{
		"name": "latest", "target": string(urn.URN("urn:lumi:test::files:index::files:index:File::none")),
	})})
	if err == nil || err.Error() != "target: urn:lumi:test::files:index::files:index:File::none does not exist" {
		t.Errorf("got %v", err)
	}
}
