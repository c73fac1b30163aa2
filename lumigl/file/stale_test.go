package file

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStale(t *testing.T) {
	prepare := func(t *testing.T) (dir, path string, loaded Version) {
		dir = t.TempDir()
		path = filepath.Join(dir, "prod.json")
		mustWrite(t, path, `{"lineage": "A", "serial": 5, "resources": {}}`)
		_, loaded, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		return dir, path, loaded
	}
	tests := []struct {
		name   string
		change func(t *testing.T, path string)
		loaded *Version
		want   string
	}{
		{
			name:   "saved by another",
			change: func(t *testing.T, path string) { mustSave(t, path, snapshot(t, 1, "theirs")) },
			want:   "DIR/prod.json is at serial 6, saved by ME, not at serial 5, which was loaded: load it again",
		},
		{
			name: "saved by something else",
			change: func(t *testing.T, path string) {
				v := mustSave(t, path, snapshot(t, 1, "theirs"))
				mustWrite(t, path+lockSuffix, `{"saved":{"digest":"`+v.Digest+`","by":{"pid":7,"command":"\u001b[2J"}}}`)
			},
			want: "DIR/prod.json is at serial 6, saved by \uFFFD[2J (process 7, since 0001-01-01 00:00:00 UTC), " +
				"not at serial 5, which was loaded: load it again",
		},
		{
			name: "checked out",
			change: func(t *testing.T, path string) {
				mustSave(t, path, snapshot(t, 1, "theirs"))
				mustWrite(t, path, `{"lineage": "A", "serial": 4, "resources": {}}`)
			},
			want: "DIR/prod.json is at serial 4, not at serial 5, which was loaded: load it again",
		},
		{
			name:   "edited",
			change: func(t *testing.T, path string) { mustWrite(t, path, `{"lineage": "A", "serial": 5, "resources": {} }`) },
			want:   "DIR/prod.json has been edited since serial 5 of it was loaded: load it again",
		},
		{
			name:   "another lineage",
			change: func(t *testing.T, path string) { mustWrite(t, path, `{"lineage": "B", "serial": 5, "resources": {}}`) },
			want: "DIR/prod.json is at serial 5 of lineage B, not at serial 5 of lineage A, which was loaded: " +
				"it has another history, so load it again",
		},
		{
			name:   "lineage lost",
			change: func(t *testing.T, path string) { mustWrite(t, path, `{"resources": {}}`) },
			want: "DIR/prod.json is at serial 0 without a lineage, not at serial 5 of lineage A, which was loaded: " +
				"it has another history, so load it again",
		},
		{
			name:   "removed",
			change: func(t *testing.T, path string) { must(t, os.Remove(path)) },
			want: "DIR/prod.json is gone since serial 5 of lineage A was loaded: " +
				"put it back, or load again to start anew",
		},
		{
			name: "never loaded", change: func(*testing.T, string) {}, loaded: &Version{},
			want: "DIR/prod.json is there already, at serial 5 of lineage A, and has not been loaded: load it first",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir, path, loaded := prepare(t)
			if test.loaded != nil {
				loaded = *test.loaded
			}
			test.change(t, path)
			before := contents(t, dir)
			l := open(t, path, nil)
			mine := snapshot(t, 1, "mine")
			_, err := l.Save(mine, loaded)
			wantError(t, dir, err, test.want)
			var stale *StaleError
			if !errors.As(err, &stale) || stale.Loaded != loaded {
				t.Errorf("the error is %#v", err)
			}
			if mine.Serial != 0 || mine.Lineage != "" {
				t.Errorf("the snapshot has become %d of %s", mine.Serial, mine.Lineage)
			}
			must(t, l.Close())
			if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
		})
	}
}

// TestDisturbed has somebody who cares for no lock change the file while its successor is being written.
func TestDisturbed(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(t *testing.T, path string)
		want   string // empty if it is saved all the same
	}{
		{
			name:   "edited",
			change: func(t *testing.T, path string) { mustWrite(t, path, `{"lineage": "A", "serial": 5, "resources": {} }`) },
			want:   "DIR/prod.json has been edited since serial 5 of it was loaded: load it again",
		},
		{
			name:   "edited, and as long as before",
			change: func(t *testing.T, path string) { mustWrite(t, path, `{"lineage": "A", "serial": 7, "resources": {}}`) },
			want:   "DIR/prod.json is at serial 7, not at serial 5, which was loaded: load it again",
		},
		{
			name: "edited, and of the same time",
			change: func(t *testing.T, path string) {
				keepTime(t, path, func() { mustWrite(t, path, `{"lineage": "A", "serial": 77, "resources": {}}`) })
			},
			want: "DIR/prod.json is at serial 77, not at serial 5, which was loaded: load it again",
		},
		{
			name: "replaced by one of the same length and time",
			change: func(t *testing.T, path string) {
				keepTime(t, path, func() {
					mustWrite(t, path+".new", `{"lineage": "A", "serial": 7, "resources": {}}`)
					must(t, os.Rename(path+".new", path))
				})
			},
			want: "DIR/prod.json is at serial 7, not at serial 5, which was loaded: load it again",
		},
		{
			name: "replaced",
			change: func(t *testing.T, path string) {
				must(t, WriteAtomic(path, []byte(`{"lineage": "A", "serial": 6, "resources": {}}`)))
			},
			want: "DIR/prod.json is at serial 6, not at serial 5, which was loaded: load it again",
		},
		{
			name:   "removed",
			change: func(t *testing.T, path string) { must(t, os.Remove(path)) },
			want: "DIR/prod.json is gone since serial 5 of lineage A was loaded: " +
				"put it back, or load again to start anew",
		},
		{
			name:   "touched",
			change: func(t *testing.T, path string) { must(t, os.Chtimes(path, time.Time{}, time.Unix(1, 0))) },
		},
		{
			name: "checked out anew",
			change: func(t *testing.T, path string) {
				text := mustRead(t, path)
				must(t, os.Remove(path))
				mustWrite(t, path, text)
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "prod.json")
			mustWrite(t, path+backupSuffix, "backup")
			mustWrite(t, path, `{"lineage": "A", "serial": 5, "resources": {}}`)
			var before map[string]string
			d := &faulty{quick: true, before: func(o op) error {
				if o.name == "sync" {
					test.change(t, path)
					before = contents(t, dir)
					delete(before, filepath.Base(o.path))
				}
				return nil
			}}
			_, err := save(path, snapshot(t, 1, "mine"), d)
			if test.want == "" {
				must(t, err)
				wantNames(t, dir, "prod.json", "prod.json.backup", "prod.json.lock")
				return
			}
			wantError(t, dir, err, test.want)
			if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
		})
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "prod.json")
	d := &faulty{quick: true, before: func(o op) error {
		if o.name == "sync" {
			mustWrite(t, path, `{"lineage": "A", "serial": 5, "resources": {}}`)
		}
		return nil
	}}
	_, err := save(path, snapshot(t, 1, "mine"), d)
	wantError(t, dir, err,
		"DIR/prod.json is there already, at serial 5 of lineage A, and has not been loaded: load it first")
	wantNames(t, dir, "prod.json", "prod.json.lock")
}

// keepTime has a file be changed without its time.
func keepTime(t *testing.T, path string, change func()) {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	change()
	must(t, os.Chtimes(path, time.Time{}, info.ModTime()))
}
