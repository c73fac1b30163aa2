package files

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
)

func TestFolder(t *testing.T) {
	h := providertest.InProcess(t, providertest.Resources(NewFolders(&Store{Dir: t.TempDir()})))
	h.Unnamed(Folder).Life(t, providertest.Life{
		Create: providertest.Properties{"path": "notes", "files": map[string]string{"a": "1", "b": "2"}},
		Updates: []providertest.Change{
			{Set: providertest.Properties{"files": map[string]string{"b": "3", "c": "4"}}},
		},
		Replaces: []providertest.Replacement{{Set: providertest.Properties{"path": "old"}}},
	})
}

func TestFolderFaults(t *testing.T) {
	h := providertest.InProcess(t, providertest.Resources(NewFolders(&Store{Dir: t.TempDir()})))
	h.Unnamed(Folder).Check(t, providertest.Properties{"path": "..", "files": map[string]string{".token": ""}},
		providertest.WantFaults("path: .. is outside the folder", `files[".token"]: is not a valid name`))
}

func TestFolderName(t *testing.T) {
	folders := NewFolders(&Store{Dir: t.TempDir()})
	check := func(seed string) string {
		resp, err := folders.Check(t.Context(), &lumi.CheckRequest{
			URN: urnOf("files:index:Folder", "#1"), Properties: bag(t, values{"files": values{}}), Seed: lumi.Seed(seed),
		})
		if err != nil {
			t.Fatal(err)
		}
		name, err := folders.Name(t.Context(), &lumi.NameRequest{
			URN: urnOf("files:index:Folder", "#1"), Properties: resp.Properties,
		})
		if err != nil {
			t.Fatal(err)
		}
		return name.Name
	}
	if a := check("a"); !strings.HasPrefix(a, "folder-") || len(a) != 15 || a != check("a") || a == check("b") {
		t.Errorf("got %s and %s", a, check("b"))
	}
}

// create calls Create for the folder notes.
func create(t *testing.T, folders *FolderProvider, token string, files values) (*lumi.CreateResponse, error) {
	t.Helper()
	return folders.Create(t.Context(), &lumi.CreateRequest{
		URN: urnOf("files:index:Folder", "notes"), Token: token,
		Properties: bag(t, values{"path": "notes", "files": files}),
	})
}

func TestFolderOnlyOnce(t *testing.T) {
	folders := NewFolders(&Store{Dir: t.TempDir()})
	find := func(token string) (*lumi.FindResponse, error) {
		return folders.Find(t.Context(), &lumi.FindRequest{
			URN: urnOf("files:index:Folder", "notes"), Token: token,
			Properties: bag(t, values{"path": "notes", "files": values{}}),
		})
	}
	if _, err := find("one"); !errors.Is(err, lumi.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	for range 2 {
		if made, err := create(t, folders, "one", values{"a": "1"}); err != nil || made.ID != "notes" {
			t.Errorf("got %v, %v", made, err)
		}
	}
	if found, err := find("one"); err != nil || found.ID != "notes" {
		t.Errorf("got %v, %v", found, err)
	}
	if _, err := find("two"); !errors.Is(err, lumi.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := create(t, folders, "two", values{"a": "1"}); err == nil || err.Error() != "path: notes already exists" {
		t.Errorf("got %v", err)
	}
	described, err := folders.Describe(t.Context())
	if err != nil || !described.CanFind || !described.IdempotentCreate {
		t.Errorf("got %+v, %v", described, err)
	}
}

func TestFolderPartialCreate(t *testing.T) {
	_, err := create(t, NewFolders(&Store{Dir: t.TempDir()}), "one", values{strings.Repeat("x", 300): "1"})
	partial := new(lumi.PartialError)
	if !errors.As(err, &partial) || partial.ID != "notes" {
		t.Fatalf("got %v, want a partial error", err)
	}
	if got, want := partial.Properties.String(), `{"files":{},"path":"notes"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	invalid, ok := lumi.Meaning(partial.Err).(*lumi.InvalidError)
	if !ok || invalid.Faults[0].Message != "is too long for the file system" {
		t.Errorf("got %v", partial.Err)
	}
}

func TestFolderWaits(t *testing.T) {
	dir := t.TempDir()
	folders := NewFolders(&Store{Dir: dir})
	if _, err := create(t, folders, "one", values{}); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(dir, "notes", ".lock")
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	seen := make(chan string, 9)
	ctx := lumi.WithEvents(t.Context(), func(e lumi.Event) { seen <- e.Message })
	done := make(chan error, 1)
	go func() {
		_, err := folders.Delete(ctx, &lumi.DeleteRequest{
			URN: urnOf("files:index:Folder", "notes"), ID: "notes",
			Properties: bag(t, values{"path": "notes", "files": values{}}),
		})
		done <- err
	}()
	if got := <-seen; got != "waiting for notes: locked" {
		t.Errorf("got %s", got)
	}
	select {
	case err := <-done:
		t.Fatalf("deleted a locked folder: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := <-seen; got != "deleting a folder path=notes files=0" {
		t.Errorf("got %s", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "notes")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestExplain(t *testing.T) {
	if err := explain(nil, ""); err != nil {
		t.Error(err)
	}
	if _, err := os.ReadFile(t.TempDir() + "/none"); lumi.Meaning(explain(err, "")) != lumi.ErrNotFound {
		t.Error(err)
	}
	if runtime.GOOS == "linux" {
		err := os.WriteFile("/dev/full", []byte("text"), 0o600)
		if retry, ok := lumi.Meaning(explain(err, "")).(*lumi.RetryError); !ok || retry.After != time.Minute {
			t.Error(err)
		}
	}
	if _, ok := lumi.Meaning(explain(&os.PathError{Err: syscall.EIO}, "")).(*lumi.UncertainError); !ok {
		t.Error("an input/output error is not uncertain")
	}
}
