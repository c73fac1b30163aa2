//go:build unix

package tasktype_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// exposed returns a workspace that contains many files that tasks must not read.
func exposed(t *testing.T) *bench {
	t.Helper()
	b := here(t)
	outside := t.TempDir()
	b.node = &inventory.Node{Name: "here", Local: true, Key: filepath.Join(b.Folder, "keys/node")}
	b.Hosts.Home = filepath.Join(b.Folder, "home")
	b.Hidden = func() ([]string, error) { return []string{filepath.Join(b.Folder, "tokens"), "~/key"}, nil }
	for _, name := range []string{
		".lumi/state.db", ".lumi/deep/er", "sub/.lumi/state.db", "LUMI/.Lumi/state.db", "keys/node", "tokens", "home/key", "home/.ssh/id_rsa",
		"lumi-rescue-20260101.db", "folder/file", "tree/file", outside + "/secret",
	} {
		if !filepath.IsAbs(name) {
			name = filepath.Join(b.Folder, name)
		}
		write(t, name, "content of "+filepath.Base(name))
	}
	for link, target := range map[string]string{
		"out": outside + "/secret", "self": "/proc/self/environ", "up": "../" + filepath.Base(outside), "folder/up": "../..",
		"state": ".lumi", "db": "folder/../.lumi/state.db", "abs": b.Folder + "/folder/file", "loop": "loop", "chain": "state/state.db",
		"good": "folder", "better": "./good/../folder/file", "tree/link": "../folder/file",
	} {
		must.Do(t, os.Symlink(target, filepath.Join(b.Folder, link)))
	}
	for hard, file := range map[string]string{"hard": ".lumi/state.db", "folder/key": "keys/node", "public": "tokens"} {
		must.Do(t, os.Link(filepath.Join(b.Folder, file), filepath.Join(b.Folder, hard)))
	}
	must.Do(t, syscall.Mkfifo(filepath.Join(b.Folder, "pipe"), 0o600))
	return b
}

const (
	outside = "outside the workspace"
	leaves  = "the link leads outside the workspace"
	hides   = "contains state, keys, or tokens, which tasks must not read"
)

func TestSources(t *testing.T) {
	t.Parallel()
	b, dst := exposed(t), t.TempDir()
	for src, want := range map[string]string{
		"/etc/passwd": outside, "../x": outside, "folder/../../x": outside, b.Folder + "/folder/file": outside, "..": outside,
		"out": leaves, "self": leaves, "up/secret": leaves, "folder/up/x": leaves,
		".lumi": hides, ".lumi/state.db": hides, "./folder/..//.lumi/state.db": hides, ".lumi/deep/er": hides, "sub/.lumi/state.db": hides,
		"LUMI/.Lumi/state.db": hides, "state/state.db": hides, "state/deep/er": hides, "db": hides, "chain": hides, "hard": hides,
		"keys/node": hides, "folder/key": hides, "tokens": hides, "public": hides, "home/key": hides, "home/.ssh/id_rsa": hides,
		"lumi-rescue-20260101.db": hides,
		"pipe":                    "neither a file nor a directory", "loop": "too many links", "no/file": "no such file or directory",
		"folder/file/x": "not a directory",
	} {
		for kind, parameters := range map[string]p{
			"upload_file": {"path": dst + "/f", "src": src}, "copy_files": {"files": []any{p{"src": src, "dst": dst + "/c"}}},
			"sync": {"src": src, "dst": dst + "/s"},
		} {
			_, err := b.try(t.Context(), b.work(t, kind, parameters))
			if err == nil || err.Error() != "src "+src+": "+want {
				t.Errorf("%s of %s = %v, want %s", kind, src, err, want)
			}
		}
	}
	for src, want := range map[string]string{
		".":    "cannot copy .lumi: " + hides,
		"sub":  "cannot copy sub/.lumi: " + hides,
		"good": "cannot copy folder/key: " + hides,
		"tree": `cannot copy tree/link: the link to "../folder/file" leaves tree; only relative links within it are copied`,
	} {
		b.fails(t, b.work(t, "copy_files", p{"files": []any{p{"src": src, "dst": dst + "/c"}}}), want)
		b.fails(t, b.work(t, "sync", p{"src": src, "dst": dst + "/s"}), want)
	}
	if files, err := os.ReadDir(dst); err != nil || len(files) > 0 {
		t.Errorf("files on the node = %v, %v, want none", files, err)
	}
	for _, src := range []string{"folder/file", "good/file", "better", "abs", "./folder//file", "no/../folder/file"} {
		b.does(t, b.work(t, "upload_file", p{"path": dst + "/f", "src": src}), "")
		if got := read(t, dst+"/f"); got != "content of file" {
			t.Errorf("uploaded %s = %q, want the content of the file", src, got)
		}
	}
	b.Hidden = func() ([]string, error) { return nil, fs.ErrInvalid }
	b.fails(t, b.work(t, "upload_file", p{"path": dst + "/f", "src": "folder/file"}), "cannot determine which files are keys: invalid argument")
}

func TestLinks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, target string
		want         bool
	}{
		{"a", "b", true}, {"a", "b/", true}, {"a", ".", true}, {"a", "..", false}, {"a", "../b", false}, {"a", "/b", false},
		{"a/b", "..", true}, {"a/b", "../c/d", true}, {"a/b", "../../c", false}, {"a/b/c", "../../d", true},
		{"a", "b/../c", false}, // b may be a link to another depth
	} {
		b := here(t)
		link := filepath.Join(b.Folder, "src", test.name)
		must.Do(t, os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(test.target, link))
		got := b.CheckSources(b.work(t, "sync", p{"src": "src", "dst": "/srv/x"}).Task, b.node)
		if (len(got) == 0) != test.want {
			t.Errorf("CheckSources with a link %s to %s = %q, want problems: %v", test.name, test.target, got, !test.want)
		}
	}
}

func TestCheckSources(t *testing.T) {
	t.Parallel()
	b := exposed(t)
	files := func(src string) any { return p{"src": src, "dst": "/srv/x"} }
	got := b.CheckSources(b.work(t, "copy_files", p{"files": []any{files("tree"), files("absent"), files("out"), files("folder/file")}}).Task, b.node)
	got = append(got, b.CheckSources(b.work(t, "sync", p{"src": "sub", "dst": "/srv/x"}).Task, b.node)...)
	want := []string{
		`cannot copy tree/link: the link to "../folder/file" leaves tree; only relative links within it are copied`, "src out: " + leaves,
		"cannot copy sub/.lumi: " + hides,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("CheckSources mismatch (-want +got):\n%s", diff)
	}
}

func TestRemoteOnly(t *testing.T) {
	t.Parallel()
	b := here(t)
	b.Remote = true
	_, err := b.try(t.Context(), b.work(t, "shell", p{"cmd": "id"}))
	if err == nil || !strings.HasPrefix(err.Error(), "node here has connection: local, which gives its tasks all permissions of the server; ") {
		t.Errorf("Execute = %v, want the local node to be rejected", err)
	}
}
