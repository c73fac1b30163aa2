package files

import (
	"testing"

	"github.com/lumi-idl/lumi/runtime/providertest"
)

func TestLogin(t *testing.T) {
	store := new(Store)
	if err := store.Configure(t.Context(), &Config{Folder: "none"}); err == nil || err.Error() != "folder: none is not a folder" {
		t.Errorf("got %v", err)
	}
	if err := store.Configure(t.Context(), &Config{Folder: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	h := providertest.InProcess(t, providertest.Resources(NewLogins(store)))
	h.Resource(Login, "admin").Life(t, providertest.Life{
		Create:   providertest.Properties{"name": "admin", "password": "correct horse battery"},
		Updates:  []providertest.Change{{Set: providertest.Properties{"password": "staple horse battery"}}},
		Replaces: []providertest.Replacement{{Set: providertest.Properties{"name": "root"}}},
	})
	h.Resource(Login, "short").Check(t, providertest.Properties{"name": "short", "password": "short"},
		providertest.WantFaults("password: is shorter than 12 characters"))
}
