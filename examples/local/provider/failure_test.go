package local_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	local "github.com/lumi-idl/lumi/examples/local/provider"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestFaults(t *testing.T) {
	t.Parallel()
	h := inProcess(t)
	for _, test := range []struct {
		typ    tokens.Type
		set    props
		faults []string
	}{
		{local.File, props{"path": ""}, []string{"path: must not be empty", "content: is required unless source is set"}},
		{
			local.File, props{"path": "a/..", "mode": "999", "content": "", "source": lumi.TextAsset("")},
			[]string{
				"path: must end in a name, got a/..", "mode: must be three octal digits, such as 644",
				"source: cannot be combined with content",
			},
		},
		{local.File, props{"path": "a\x00", "content": ""}, []string{"path: must not contain a NUL character"}},
		{local.Directory, props{"path": "../..", "mode": "+7"}, []string{
			"path: must end in a name, got ../..", "mode: must be three octal digits, such as 755",
		}},
		{local.Directory, props{"path": "/"}, []string{"path: must end in a name, got /"}},
		{local.Unpacked, props{"path": ".", "archive": archive("a", "")}, []string{"path: must end in a name, got ."}},
		{
			local.Command,
			props{
				"name": "c", "create": " ", "update": "", "delete": "\n", "interpreter": []string{},
				"environment": map[string]string{"A=B": "", "LUMI_STDOUT": ""},
			},
			[]string{
				"create: must not be empty", "update: must not be empty", "delete: must not be empty", "interpreter: must not be empty",
				`environment["A=B"]: is not a valid variable name`, "environment.LUMI_STDOUT: is not a valid variable name",
			},
		},
		{local.Command, props{"name": "c", "create": "a", "interpreter": []string{""}}, []string{"interpreter[0]: must not be empty"}},
		{local.RandomString, props{"name": "r", "length": 0.5}, []string{"length: must be a whole number, found 0.5"}},
		{local.RandomString, props{"name": "s", "length": 8, "characters": ""}, []string{"characters: must not be empty"}},
		{local.RandomID, props{"name": "r", "bytes": 5000}, []string{"bytes: must be at most 4096, found 5000"}},
	} {
		r := h.Unnamed
		if name, ok := test.set["name"].(string); ok {
			r = func(typ tokens.Type) *providertest.Resource {
				return h.Resource(typ, name+string(rune('a'+len(test.faults))))
			}
		}
		r(test.typ).Check(t, test.set, providertest.WantFaults(test.faults...))
	}
}

func TestPathTaken(t *testing.T) {
	t.Parallel()
	h, dir := inProcess(t), t.TempDir()
	write(t, dir+"/file", "theirs")
	for _, err := range []error{
		os.Mkdir(dir+"/directory", 0o755), os.Symlink("target", dir+"/link"), os.Mkdir(dir+"/target", 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	create := map[tokens.Type]props{
		local.File: {"content": "ours"}, local.Directory: {}, local.Unpacked: {"archive": archive("a", "")},
	}
	for typ, properties := range create {
		for name, what := range map[string]string{"file": "a file", "directory": "a directory", "link": "a symbolic link"} {
			path := dir + "/" + name
			h.Unnamed(typ).Create(t, properties.With(props{"path": path}), providertest.WantFaults(
				"path: "+path+" already exists, as "+what+" that this resource did not create"))
		}
		h.Unnamed(typ).Create(t, properties.With(props{"path": dir + "/none/a"}),
			providertest.WantFaults("path: the directory "+dir+"/none does not exist; if the program creates it, name that resource in dependsOn"))
		h.Unnamed(typ).Create(t, properties.With(props{"path": dir + "/file/a"}),
			providertest.WantFaults("path: the directory "+dir+"/file does not exist; if the program creates it, name that resource in dependsOn"))
		h.Unnamed(typ).Create(t, properties.With(props{"path": dir + "/" + strings.Repeat("a", 300)}),
			providertest.WantError("file name too long"))
		wantEntries(t, dir, "directory", "file", "link", "target")
	}
	wantEntries(t, dir+"/target")
	wantText(t, dir+"/file", "theirs")
}

// A file replaced with a symbolic link no longer exists. Operations change neither the link nor its target.
func TestFileReplacedByLink(t *testing.T) {
	t.Parallel()
	c, dir := newCaller(t), t.TempDir()
	path := dir + "/a"
	id, _ := c.create(local.File, path, "token", props{"path": path, "content": "ours"})
	write(t, dir+"/b", "theirs")
	must.Do(t, errors.Join(os.Remove(path), os.Symlink("b", path)))
	old := props{"path": path, "content": "ours", "mode": "644", "checksum": "x"}
	if _, err := c.get(local.File, id, old); !errors.Is(err, lumi.ErrNotFound) {
		t.Errorf("Get error = %v, want %v", err, lumi.ErrNotFound)
	}
	if _, err := c.update(local.File, id, old, old.With(props{"content": "new"})); !errors.Is(err, lumi.ErrNotFound) {
		t.Errorf("Update error = %v, want %v", err, lumi.ErrNotFound)
	}
	if err := c.delete(local.File, id, old); err != nil {
		t.Errorf("Delete = %v, want nil", err)
	}
	wantEntries(t, dir, "a", "b")
	wantText(t, dir+"/b", "theirs")
}

func TestDrift(t *testing.T) {
	t.Parallel()
	c, dir := newCaller(t), t.TempDir()
	text, source, unpacked := dir+"/text", dir+"/source", dir+"/unpacked"
	textID, textState := c.create(local.File, text, "1", props{"path": text, "content": "a"})
	sourceID, sourceState := c.create(local.File, source, "2", props{"path": source, "source": lumi.TextAsset("b")})
	unpackedID, unpackedState := c.create(local.Unpacked, unpacked, "3",
		props{"path": unpacked, "archive": archive("a", "1", "b/c", "2", "d", "3")})
	if got, err := c.get(local.Unpacked, unpackedID, unpackedState); err != nil || got.Get("archive") == nil {
		t.Errorf("Get of unchanged files = %v, %v, want an archive", got, err)
	}
	write(t, text, "A")
	write(t, source, "B")
	write(t, unpacked+"/d", "4")
	write(t, unpacked+"/e", "of others")
	must.Do(t, errors.Join(os.Chmod(text, 0o640), os.Remove(unpacked+"/b/c")))
	if got, err := c.get(local.File, textID, textState); err != nil || got.Get("content") != "A" || got.Get("mode") != "640" {
		t.Errorf("Get of a file with text = %v, %v, want content A and mode 640", got, err)
	}
	if got, err := c.get(local.File, sourceID, sourceState); err != nil || got.Get("source") != nil || got.Get("content") != nil {
		t.Errorf("Get of a changed file with a source = %v, %v, want neither source nor content", got, err)
	}
	got, err := c.get(local.Unpacked, unpackedID, unpackedState)
	files, _ := got.Get("files").(map[string]any)
	if err != nil || got.Get("archive") != nil || len(files) != 2 || files["d"] == unpackedState["files"].(map[string]any)["d"] {
		t.Errorf("Get of changed unpacked files = %v, %v, want 2 files and no archive", got, err)
	}
	want := unpackedState.With(props{"files": nil})
	must.Get(c.update(local.Unpacked, unpackedID, props(got.Struct().AsMap()), want))(t)
	wantText(t, unpacked+"/d", "3")
	wantText(t, unpacked+"/b/c", "2")
	wantText(t, unpacked+"/e", "of others")
	must.Do(t, os.WriteFile(text, []byte{0xff}, 0o600))
	if got, err := c.get(local.File, textID, textState); err != nil || got.Get("content") != nil {
		t.Errorf("Get of a binary file = %v, %v, want no content", got, err)
	}
}

func TestDeleteDirectory(t *testing.T) {
	t.Parallel()
	h, dir := inProcess(t), t.TempDir()
	write(t, dir+"/theirs", "theirs")
	d := h.Unnamed(local.Directory)
	path := dir + "/d"
	d.Create(t, props{"path": path})
	for _, name := range []string{"a", "b", "c", "d"} {
		must.Do(t, os.Symlink(dir, filepath.Join(path, name)))
	}
	d.Delete(t, providertest.WantError("more: empty it, or set force and deploy before you delete it"))
	wantEntries(t, path, "a", "b", "c", "d")
	d.Update(t, props{"force": true})
	d.Delete(t)
	wantEntries(t, dir, "theirs")
}

func TestUnpackedUnmanagedFiles(t *testing.T) {
	t.Parallel()
	h, dir := inProcess(t), t.TempDir()
	path := dir + "/u"
	u := h.Unnamed(local.Unpacked)
	u.MayDiffer("files") // an import includes unmanaged files
	u.Create(t, props{"path": path, "archive": archive("../a", "1")},
		providertest.WantFaults(`archive["../a"]: is not a valid name in an archive: it contains ".."`))
	u.Create(t, props{"path": path, "archive": archive("a", "1", "b/c", "2")})
	write(t, path+"/z", "theirs")
	write(t, path+"/b/mine", "theirs")
	u.Update(t, props{"archive": archive("a", "3", "z", "4")},
		providertest.WantFaults("archive: z already exists in "+path+", and this resource did not create it"))
	wantText(t, path+"/a", "1")
	must.Do(t, os.Remove(path+"/z"))
	// The update fails halfway, since an unmanaged directory is at the path of a new file.
	must.Do(t, os.MkdirAll(path+"/n/theirs", 0o755))
	t.Run("half way", func(t *testing.T) {
		c := newCaller(t)
		old := props{"path": path, "archive": archive("a", "1", "b/c", "2"), "files": map[string]string{"a": "1", "b/c": "2"}}
		_, err := c.update(local.Unpacked, lumi.ID(path), old, props{"path": path, "archive": archive("a", "3", "n", "4", "o", "5")})
		var partial *lumi.PartialError
		if !errors.As(err, &partial) || !strings.Contains(err.Error(), path+"/n: file exists") {
			t.Fatalf("Update error = %v, want a PartialError for %s/n", err, path)
		}
		files, _ := partial.Properties.Get("files").(map[string]any)
		if len(files) != 1 || files["a"] == "1" {
			t.Errorf("files in the PartialError = %v, want only the new a", files)
		}
	})
	wantText(t, path+"/a", "3")
	must.Do(t, os.RemoveAll(path+"/n"))
	u.Update(t, props{"archive": archive("a", "5")})
	wantEntries(t, path, "a", "b")
	wantText(t, path+"/b/mine", "theirs")
	must.Do(t, os.RemoveAll(path+"/b"))
	u.Delete(t)
	wantEntries(t, dir)
}

func TestUnpackedDeleteUnmanagedFiles(t *testing.T) {
	t.Parallel()
	c, path := newCaller(t), t.TempDir()+"/u"
	id, state := c.create(local.Unpacked, path, "token",
		props{"path": path, "archive": archive("a", "1", "b/c", "2", "e/f", "3")})
	write(t, path+"/b/d", "theirs")
	must.Do(t, os.RemoveAll(path+"/e"))
	write(t, path+"/e", "theirs, in the place of a directory")
	must.Do(t, c.delete(local.Unpacked, id, state))
	wantEntries(t, path, "b", "e")
	wantEntries(t, path+"/b", "d")
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mountSmall(t, dir)
	h := inProcess(t)
	write(t, dir+"/theirs", "theirs")
	large := strings.Repeat("x", 1<<20)
	f, u := h.Unnamed(local.File), h.Unnamed(local.Unpacked)
	f.Create(t, props{"path": dir + "/a", "content": large}, providertest.WantRetry(dir+"/a: no space left on device"))
	u.Create(t, props{"path": dir + "/b", "archive": archive("a", "1", "b", large)},
		providertest.WantRetry(dir+"/b/b: no space left on device"))
	f.Create(t, props{"path": dir + "/a", "content": "small"})
	u.Create(t, props{"path": dir + "/b", "archive": archive("a", "1")})
	f.Update(t, props{"content": large}, providertest.WantRetry("no space left on device"))
	u.Update(t, props{"archive": archive("a", "2", "b", large)}, providertest.WantRetry("no space left on device"))
	wantEntries(t, dir, "a", "b", "theirs")
	wantEntries(t, dir+"/b", "a")
	wantText(t, dir+"/a", "small")
	wantText(t, dir+"/b/a", "1")
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	readOnly := mountSmall(t, dir)
	h := inProcess(t)
	for name, create := range map[string]props{
		"file": {"content": "a"}, "directory": {}, "unpacked": {"archive": archive("a", "1")},
	} {
		typ := map[string]tokens.Type{"file": local.File, "directory": local.Directory, "unpacked": local.Unpacked}[name]
		const failure = ": read-only file system"
		readOnly(true)
		r := h.Unnamed(typ)
		r.Create(t, create.With(props{"path": dir + "/" + name}), providertest.WantError(dir+"/"+name+failure))
		readOnly(false)
		r.Create(t, create.With(props{"path": dir + "/" + name}))
		readOnly(true)
		change := map[string]props{
			"file": {"content": "b"}, "directory": {"mode": "700"}, "unpacked": {"archive": archive("b", "2")},
		}[name]
		r.Update(t, change, providertest.WantError(failure))
		r.NoChange(t)
		readOnly(false)
		r.Update(t, change)
	}
	wantText(t, dir+"/file", "b")
	wantEntries(t, dir+"/unpacked", "b")
}

// If the plugin is killed while fetching a file and after creating another one, the next process recovers with the same
// tokens.
func TestPluginKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	arrived := make(chan struct{}, 1)
	slow := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("first half, "))
		if slow {
			w.(http.Flusher).Flush()
			arrived <- struct{}{}
			<-r.Context().Done()
		}
		_, _ = w.Write([]byte("second half"))
	}))
	defer server.Close()
	create := map[string]props{
		"page": {"path": dir + "/page", "source": lumi.URIAsset(server.URL)}, "file": {"path": dir + "/file", "content": "a"},
	}
	first := newBinary(t)
	first.create(local.File, "file", "file", create["file"])
	failed := make(chan error, 1)
	go func() {
		_, err := first.provider(local.File).Create(t.Context(), first.request(local.File, "page", "page", create["page"]))
		failed <- err
	}()
	<-arrived
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if entries, _ := os.ReadDir(dir); len(entries) == 2 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("found no temporary file within 10 seconds")
		}
	}
	kill := props{"name": "kill", "create": "kill -9 $PPID"}
	_, err := first.provider(local.Command).Create(t.Context(), first.request(local.Command, "kill", "kill", kill))
	if !errors.As(err, new(*lumi.UncertainError)) {
		t.Errorf("Create of the command that kills the plugin = %v, want an UncertainError", err)
	}
	if err := <-failed; !errors.As(err, new(*lumi.UncertainError)) {
		t.Errorf("Create of the file in flight = %v, want an UncertainError", err)
	}
	slow = false
	second := newBinary(t)
	for name, properties := range create {
		second.create(local.File, name, name, properties)
	}
	wantEntries(t, dir, "file", "page")
	wantText(t, dir+"/page", "first half, second half")
	if _, err := second.provider(local.File).Create(t.Context(), second.request(local.File, "file", "another", create["file"])); err == nil {
		t.Error("Create with another token = nil, want an error for the existing file")
	}
}

func TestCommandFailures(t *testing.T) {
	t.Parallel()
	h, dir := inProcess(t), t.TempDir()
	c := h.Resource(local.Command, "c")
	command := props{"name": "c", "create": "echo first >&2; echo last >&2; exit 3"}
	c.Create(t, command, providertest.WantError("create: exit status 3: last"))
	c.Create(t, command.With(props{
		"create": "echo the token is $TOKEN >&2; exit 3", "environment": props{"TOKEN": providertest.Secret("swordfish")},
	}), providertest.WantError("create: exit status 3: the token is (secret)"))
	c.Create(t, command.With(props{"interpreter": []string{"/no/such/program"}}),
		providertest.WantError("create: fork/exec /no/such/program: no such file or directory"))
	c.Create(t, command.With(props{"create": "kill -9 $$"}), providertest.WantUncertain("create: signal: killed"))
	// A background process keeps the output open.
	c.Create(t, command.With(props{"create": "sleep 60 & echo $!", "delete": "kill $LUMI_STDOUT"}))
	c.Update(t, props{"update": "exit 4", "triggers": map[string]string{"a": "b"}}, providertest.WantError("update: exit status 4"))
	c.Delete(t)
	write(t, dir+"/x", "")
	d := h.Resource(local.Command, "d")
	d.Create(t, props{"name": "d", "create": "yes | head -c 2000000", "delete": "test ! -e " + dir + "/x", "interpreter": []string{"sh", "-c"}})
	if n := len(d.Output("stdout").GetStringValue()); n != 1<<20-1 { // maxStdout without the trailing newline
		t.Errorf("stdout has %d bytes, want %d", n, 1<<20-1)
	}
	d.Delete(t, providertest.WantError("delete: exit status 1"))
	must.Do(t, os.Remove(dir+"/x"))
	d.Delete(t)
}

// If the context expires, all child processes are stopped, and the outcome is uncertain.
func TestCommandTimeout(t *testing.T) {
	t.Parallel()
	c, dir := newBinary(t), t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	text := "(trap '' TERM; sleep 5; touch " + dir + "/late) & trap 'touch " + dir + "/asked; exit 1' TERM; touch " + dir + "/began; wait"
	_, err := c.provider(local.Command).Create(ctx, c.request(local.Command, "c", "c", props{"name": "c", "create": text}))
	if !errors.As(err, new(*lumi.UncertainError)) {
		t.Errorf("Create error = %v, want an UncertainError", err)
	}
	time.Sleep(5500 * time.Millisecond)
	wantEntries(t, dir, "asked", "began")
}

func TestImportStateOnly(t *testing.T) {
	t.Parallel()
	c := newCaller(t)
	for _, typ := range []tokens.Type{local.Command, local.RandomID, local.RandomString} {
		_, err := c.get(typ, "x", nil)
		if !errors.Is(err, lumi.ErrNotFound) || !strings.Contains(err.Error(), "it exists only in the state and cannot be imported") {
			t.Errorf("import of %s = %v, want %v", typ, err, lumi.ErrNotFound)
		}
	}
	state := props{"name": "r", "bytes": 1, "hex": "00", "base64": "AA"}
	if got, err := c.get(local.RandomID, "x", state); err != nil || got.Get("hex") != "00" {
		t.Errorf("refresh = %v, %v, want the old state", got, err)
	}
}

func TestRandomStrings(t *testing.T) {
	t.Parallel()
	c := newCaller(t)
	seen := map[any]bool{}
	for i := range 200 {
		_, state := c.create(local.RandomString, "r", string(rune('a'+i)), props{"name": "r", "length": 20, "characters": "αβγ"})
		_, secret := state["result"].(map[string]any)
		result := lumi.BagOf(encode(t, state)).Get("result").(string)
		if !secret || strings.Trim(result, "αβγ") != "" || len([]rune(result)) != 20 || seen[result] {
			t.Fatalf("state = %v, want a new secret of 20 characters from αβγ", state)
		}
		seen[result] = true
	}
}

// A resource is deleted before its replacement only if both have the same path. Commands are always deleted first.
func TestDeleteBeforeReplace(t *testing.T) {
	t.Parallel()
	h, dir := inProcess(t), t.TempDir()
	for typ, create := range map[tokens.Type]props{
		local.File: {"content": "a"}, local.Directory: {}, local.Unpacked: {"archive": archive("a", "1")},
	} {
		r := h.Unnamed(typ)
		r.Create(t, create.With(props{"path": dir + "/" + string(typ)}))
		if !r.Inspect(t, nil).DeleteBeforeReplace || r.Inspect(t, props{"path": dir + "/b"}).DeleteBeforeReplace {
			t.Errorf("%s: DeleteBeforeReplace must be true with the same path, and false with another one", typ)
		}
	}
	c := h.Resource(local.Command, "c")
	c.Create(t, props{"name": "c", "create": "echo made"})
	if got := c.Inspect(t, props{"create": "false"}); !got.DeleteBeforeReplace || len(got.Replaces) != 1 {
		t.Errorf("InspectChange(command) = %+v, want DeleteBeforeReplace and one replacing property", got)
	}
}

func TestConcurrentCreates(t *testing.T) {
	t.Parallel()
	c, dir := newCaller(t), t.TempDir()
	for round := range 20 {
		path := filepath.Join(dir, string(rune('a'+round)))
		made := make(chan string)
		for i := range 8 {
			text := string(rune('A' + i))
			request := c.request(local.File, path, text, props{"path": path, "content": text})
			go func() {
				if _, err := c.provider(local.File).Create(t.Context(), request); err != nil {
					text = ""
				}
				made <- text
			}()
		}
		winners := ""
		for range 8 {
			winners += <-made
		}
		if len(winners) != 1 {
			t.Errorf("concurrent calls of Create: %d succeeded (%s), want 1", len(winners), winners)
		}
		wantText(t, path, winners)
	}
}
