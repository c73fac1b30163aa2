package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// snapshot makes one with so many resources, which a word tells from others.
func snapshot(t testing.TB, resources int, word string) *lumigl.Snapshot {
	t.Helper()
	s := &lumigl.Snapshot{}
	for i := range resources {
		add(t, s, "r"+strconv.Itoa(i), word)
	}
	return s
}

func add(t testing.TB, s *lumigl.Snapshot, name, word string) {
	t.Helper()
	r, err := s.Add(urn.URN("urn:lumi:prod::my/cluster:index::aws:ec2/vpc:VPC::" + name))
	if err != nil {
		t.Fatal(err)
	}
	r.Properties = lumigl.ObjectOf(lumigl.Member{Key: "word", Value: lumigl.TextOf(word)})
}

// word is what tells a snapshot from others.
func word(t testing.TB, s *lumigl.Snapshot) string {
	t.Helper()
	for v := range s.Vertices() {
		value := v.Properties.Get("word")
		text, _ := value.Text()
		return text
	}
	return "nothing"
}

func open(t testing.TB, path string, d disk) *Locked {
	t.Helper()
	l, err := Open(context.Background(), path, Options{Command: "lumi test", disk: d})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// save does all that a writer does.
func save(path string, s *lumigl.Snapshot, d disk) (version Version, err error) {
	l, err := Open(context.Background(), path, Options{Command: "lumi test", disk: d})
	if err != nil {
		return Version{}, err
	}
	defer func() {
		if closeErr := l.Close(); err == nil {
			err = closeErr
		}
	}()
	_, loaded, err := l.Load()
	if err != nil {
		return Version{}, err
	}
	return l.Save(s, loaded)
}

func mustSave(t testing.TB, path string, s *lumigl.Snapshot) Version {
	t.Helper()
	v, err := save(path, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func mustWrite(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mustRead(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// names are what is in a folder.
func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func wantNames(t testing.TB, dir string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, names(t, dir)); diff != "" {
		t.Errorf("in the folder (-want +got):\n%s", diff)
	}
}

// wantError compares an error's text, in which DIR stands for the folder and ME for this process.
func wantError(t testing.TB, dir string, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", want)
	}
	got := strings.ReplaceAll(err.Error(), dir, "DIR")
	me, _, _ := strings.Cut(self("lumi test").String(), ", since")
	for {
		before, after, ok := strings.Cut(got, me)
		if !ok {
			break
		}
		_, after, _ = strings.Cut(after, ")")
		got = before + "ME" + after
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "prod.json")
	if s, v, err := Load(path); s != nil || v.Exists() || err != nil {
		t.Fatalf("a file that is not there: %v, %v, %v", s, v, err)
	}
	first := mustSave(t, path, snapshot(t, 1, "one"))
	wantNames(t, dir, "prod.json", "prod.json.lock")
	if first.Serial != 1 || len(first.Lineage) != 26 {
		t.Errorf("the first version is %s", first)
	}
	text := mustRead(t, path)
	second := mustSave(t, path, snapshot(t, 2, "two"))
	wantNames(t, dir, "prod.json", "prod.json.backup", "prod.json.lock")
	if second.Serial != 2 || second.Lineage != first.Lineage {
		t.Errorf("%s follows %s", second, first)
	}
	if got := mustRead(t, path+".backup"); got != text {
		t.Errorf("the backup is %s", got)
	}
	s, loaded, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if loaded != second || s.Serial != 2 || s.Lineage != first.Lineage || word(t, s) != "two" {
		t.Errorf("loaded %v, %q, want %v", loaded, word(t, s), second)
	}
	// A file that somebody wrote by hand gets a lineage, and keeps its serial.
	mustWrite(t, path, `{"serial": 8, "resources": {}}`)
	if v := mustSave(t, path, snapshot(t, 1, "three")); v.Serial != 9 || v.Lineage == "" || v.Lineage == first.Lineage {
		t.Errorf("a file by hand became %s", v)
	}
}

// TestOrder holds that each step is done before the next one relies on it.
func TestOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prod.json")
	mustSave(t, path, snapshot(t, 1, "one"))
	must(t, os.Chmod(path, 0o640))
	var got []string
	if _, err := save(path, snapshot(t, 1, "two"), trace(&got)); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"chmod prod.json.lock", "truncate prod.json.lock", "write prod.json.lock",
		"create .prod.json-*.staged", "write .prod.json-*.staged", "chmod .prod.json-*.staged",
		"sync .prod.json-*.staged", "close .prod.json-*.staged",
		"link prod.json to .prod.json-*.staged", "rename .prod.json-*.staged to prod.json.backup",
		"rename .prod.json-*.staged to prod.json", "sync folder " + filepath.Base(filepath.Dir(path)),
		"truncate prod.json.lock", "write prod.json.lock", "truncate prod.json.lock", "write prod.json.lock",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// contents are the files of a folder but for locks.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range names(t, dir) {
		if !strings.HasSuffix(name, lockSuffix) {
			files[name] = mustRead(t, filepath.Join(dir, name))
		}
	}
	return files
}

func TestInvalid(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "prod.json")
	mustSave(t, path, snapshot(t, 1, "one"))
	loaded := mustSave(t, path, snapshot(t, 1, "two"))
	broken := "{\n  \"serial\": 3,\n  \"resources\": {},\n}\n"
	mustWrite(t, path, broken)
	_, _, err := Load(path)
	_, parseErr := lumigl.ParseSnapshot(broken)
	faults := parseErr.Error()
	wantError(t, dir, err, "DIR/prod.json is not a valid snapshot; the one before the last save is DIR/prod.json.backup:\n"+faults)
	l := open(t, path, nil)
	_, err = l.Save(snapshot(t, 1, "three"), loaded)
	wantError(t, dir, err, "DIR/prod.json has become invalid since it was loaded, and was left as it is; "+
		"the one before the last save is DIR/prod.json.backup:\n"+faults)
	var invalid *lumigl.InvalidError
	if !errors.As(err, &invalid) || len(invalid.Faults) != 1 || invalid.Faults[0].Code != lumigl.TrailingCommaFault {
		t.Errorf("the error is %#v", err)
	}
	if mustRead(t, path) != broken {
		t.Error("the broken file was overwritten")
	}
	mustWrite(t, filepath.Join(dir, "graph.json"), `{"vertices": {}}`)
	_, _, err = Load(filepath.Join(dir, "graph.json"))
	wantError(t, dir, err, "DIR/graph.json is not a valid snapshot:\n"+
		`1:1: expected "resources", found "vertices": it is the other form of files`)
}

func TestSaveInvalid(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "prod.json")
	l := open(t, path, nil)
	s := snapshot(t, 1, "one")
	s.Vertex("urn:lumi:prod::my/cluster:index::aws:ec2/vpc:VPC::r0").Type = "aws:ec2/subnet:Subnet"
	_, err := l.Save(s, Version{})
	wantError(t, dir, err, "cannot save DIR/prod.json, since the new snapshot is not valid:\n"+
		`the type is "aws:ec2/subnet:Subnet", but the URN says "aws:ec2/vpc:VPC" `+
		"(at /resources/urn:lumi:prod::my~1cluster:index::aws:ec2~1vpc:VPC::r0/type)")
	if s.Serial != 0 || s.Lineage != "" {
		t.Errorf("the snapshot has become serial %d of lineage %s", s.Serial, s.Lineage)
	}
	wantNames(t, dir, "prod.json.lock")
	_, err = l.Save(s, Version{Lineage: "A", Serial: math.MaxUint64, Digest: "0"})
	wantError(t, dir, err, "cannot save DIR/prod.json: there is no serial after 18446744073709551615")
}

// TestUnsynced lets the folder's sync fail. The file is then the new one, and the error says so.
func TestUnsynced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "prod.json")
	d := &faulty{before: func(o op) error {
		if o.name == "sync folder" {
			return syscall.EIO
		}
		return nil
	}}
	const want = "DIR/prod.json was written, but it may not outlast a loss of power: input/output error"
	l := open(t, path, d)
	s := snapshot(t, 1, "one")
	v, err := l.Save(s, Version{})
	wantError(t, dir, err, want)
	if !errors.Is(err, ErrUnsynced) || v.Serial != 1 || v.Lineage != s.Lineage || s.Serial != 1 {
		t.Errorf("%v: saved as %s, the snapshot is serial %d of lineage %s", err, v, s.Serial, s.Lineage)
	}
	if _, loaded, err := l.Load(); err != nil || loaded != v {
		t.Errorf("loaded %v, %v, want %v", loaded, err, v)
	}
	wantError(t, dir, writeAtomic(d, path, []byte("two")), want)
}

// TestTooLarge holds that nothing is saved that could not be loaded again.
func TestTooLarge(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "prod.json")
	v := mustSave(t, path, snapshot(t, 1, "one"))
	l := open(t, path, nil)
	l.most = int64(len(mustRead(t, path)))
	_, err := l.Save(snapshot(t, 1, "three"), v)
	wantError(t, dir, err, fmt.Sprintf(
		"cannot save DIR/prod.json, since the new snapshot has more than %d bytes, which nobody could load", l.most))
	wantNames(t, dir, "prod.json", "prod.json.lock")
	if _, err := l.Save(snapshot(t, 1, "two"), v); err != nil {
		t.Errorf("as large as a file may be: %v", err)
	}
}

func TestClosed(t *testing.T) {
	dir := t.TempDir()
	l := open(t, filepath.Join(dir, "prod.json"), nil)
	must(t, l.Close())
	must(t, l.Close())
	_, err := l.Save(snapshot(t, 1, "one"), Version{})
	wantError(t, dir, err, "cannot save DIR/prod.json: file already closed")
	_, _, err = l.Load()
	wantError(t, dir, err, "cannot load DIR/prod.json: file already closed")
}

func TestWriteAtomic(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "graph.json")
	must(t, WriteAtomic(path, []byte("one")))
	must(t, os.Chmod(path, 0o640))
	must(t, WriteAtomic(path, []byte("two")))
	info, err := os.Stat(path)
	must(t, err)
	if mustRead(t, path) != "two" || info.Mode() != 0o640 {
		t.Errorf("%q, mode %v", mustRead(t, path), info.Mode())
	}
	var got []string
	must(t, writeAtomic(trace(&got), path, []byte("two")))
	if len(got) > 0 {
		t.Errorf("what was there already was written: %q", got)
	}
	wantNames(t, dir, "graph.json")
}

// TestClearAway holds that exactly the leftovers of this file's writers go.
func TestClearAway(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "prod.json")
	const random = "ABCDEFGHIJKLMNOPQRSTUVWX27"
	keep := []string{
		".prod.json-" + random[1:] + ".staged", ".prod.json-" + strings.ToLower(random) + ".staged",
		".prod.json-" + random + ".tmp", ".prod.json-b-" + random + ".staged", "prod.json-" + random + ".staged",
		".test.json-" + random + ".staged", ".prod.json-" + random, random + ".staged",
	}
	const folder = ".prod.json-ABCDEFGHIJKLMNOPQRSTUVWXYZ.staged"
	for _, name := range append(keep, ".prod.json-"+random+".staged", ".prod.json-"+random+".loose") {
		mustWrite(t, filepath.Join(dir, name), "x")
	}
	must(t, WriteAtomic(path, []byte(`{"resources": {}}`)))
	if _, err := os.Stat(filepath.Join(dir, ".prod.json-"+random+".staged")); err != nil {
		t.Errorf("WriteAtomic removes what belongs to a lock: %v", err)
	}
	mustWrite(t, filepath.Join(dir, ".prod.json-"+random+".loose"), "x")
	must(t, os.Mkdir(filepath.Join(dir, folder), 0o700))
	must(t, open(t, path, nil).Close())
	for _, name := range append(keep, folder, "prod.json", "prod.json.lock") {
		must(t, os.Remove(filepath.Join(dir, name)))
	}
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestCleared holds that a writer without lock starts again when another takes it for dead.
func TestCleared(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "graph.json")
	times := 0
	d := &faulty{before: func(o op) error {
		if o.name == "rename" && times < 3 {
			times++
			return os.Remove(o.path)
		}
		return nil
	}}
	must(t, writeAtomic(d, path, []byte("one")))
	if mustRead(t, path) != "one" || times != 3 {
		t.Errorf("%q after %d times", mustRead(t, path), times)
	}
}

// TestWriteNew checks that a file which appears while another is written stays, with and without hard links.
func TestWriteNew(t *testing.T) {
	for _, links := range []bool{true, false} {
		for _, rival := range []bool{true, false} {
			dir := t.TempDir()
			path := filepath.Join(dir, "graph.html")
			d := &faulty{before: func(o op) error {
				if o.name != "link" {
					return nil
				}
				if rival {
					mustWrite(t, path, "rival")
				}
				if !links {
					return errors.ErrUnsupported
				}
				return nil
			}}
			err, want := writeNew(d, path, []byte("ours"), 0o600), "ours"
			if rival {
				want = "rival"
			}
			if errors.Is(err, fs.ErrExist) != rival || err != nil && !rival {
				t.Errorf("links %v, rival %v: %v", links, rival, err)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != want {
				t.Errorf("links %v, rival %v: the file is %q, %v", links, rival, got, err)
			}
			wantNames(t, dir, "graph.html")
		}
	}
	dir := t.TempDir()
	broken := &faulty{before: func(o op) error {
		if o.name == "link" || o.name == "rename" {
			return errors.ErrUnsupported
		}
		return nil
	}}
	err := writeNew(broken, filepath.Join(dir, "graph.html"), nil, 0o600)
	wantError(t, dir, err, "cannot write DIR/graph.html: unsupported operation")
	wantNames(t, dir)
}

// TestWriteNewClearedAway checks that the name is not claimed when another writer has removed what was staged: that writer
// would be told that the file exists.
func TestWriteNewClearedAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph.html")
	times := 0
	d := &faulty{before: func(o op) error {
		if o.path == path {
			t.Errorf("%s %s", o.name, o.path)
		}
		if o.name == "link" && times < 3 {
			times++
			return os.Remove(o.path)
		}
		return nil
	}}
	must(t, writeNew(d, path, []byte("one"), 0o600))
	if mustRead(t, path) != "one" || times != 3 {
		t.Errorf("%q after %d times", mustRead(t, path), times)
	}
}
