package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// caches is the path of the cached copies of repositories. It can be deleted at any time.
var caches = filepath.Join(".lumi", "git")

// repository is a local bare copy of the repository, claimed for the exclusive use of one call.
type repository struct {
	git
	settings *settings
	// shared is the path of the copy while it is not in use.
	shared string
	// broken is true if the copy may be inconsistent and must not be reused.
	broken bool
	// tips maps the names of fetched branches to their commits. branches lists all branches of the remote.
	tips     map[string]string
	branches []string
}

// open claims the cached copy by moving it to a private folder. If there is none or another call has claimed it, fetch
// creates a new copy. If the process is killed, the copy, which may be inconsistent, is not reused.
func open(s *settings) (*repository, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, errors.New("git not found in $PATH: install git 2.31 or later")
	}
	root, err := filepath.Abs(caches)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, err
	}
	if left, err := filepath.Glob(filepath.Join(root, "used-*")); err == nil {
		for _, dir := range left {
			if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
				_ = os.RemoveAll(dir)
			}
		}
	}
	used, err := os.MkdirTemp(root, "used-")
	if err != nil {
		return nil, err
	}
	r := &repository{git: git{repository: s.Repository}, settings: s, shared: filepath.Join(root, digest(s.Repository)[:16]+".git")}
	if err := os.Rename(r.shared, filepath.Join(used, "git")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	r.dir = filepath.Join(used, "git")
	return r, nil
}

// close returns the copy to the cache, unless it may be broken or the cache already contains one. If a query failed, close
// sets *err to its error.
func (r *repository) close(ctx context.Context, err *error) {
	if r.fault != nil {
		*err = r.fault
	}
	if ctx.Err() == nil && r.fault == nil && !r.broken {
		_ = os.Rename(r.dir, r.shared)
	}
	_ = os.RemoveAll(filepath.Dir(r.dir))
}

// fetch updates the copy and the tips of the target branch, the branch proposal unless it is "", and the branch of the
// pipeline's reports. Branches that do not exist have no tip.
func (r *repository) fetch(ctx context.Context, proposal string) error {
	names := []string{r.settings.Branch}
	if proposal != "" {
		names = append(names, proposal)
	}
	if r.settings.Status.Command == nil && r.settings.Status.Branch != r.settings.Branch {
		names = append(names, r.settings.Status.Branch)
	}
	for attempt := 1; ; attempt++ {
		listed, err := (&git{repository: r.repository}).run(ctx, "", "ls-remote", "--heads", "lumi")
		if err != nil {
			return err
		}
		heads := map[string]string{}
		for _, line := range lines(listed) {
			id, ref, _ := strings.Cut(line, "\t")
			heads[strings.TrimPrefix(ref, "refs/heads/")] = id
		}
		r.branches = slices.Sorted(maps.Keys(heads))
		if err := r.initialize(ctx, listed); err != nil {
			return err
		}
		r.tips = map[string]string{}
		fetched := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--force", "lumi"}
		known := len(fetched)
		for _, name := range names {
			ref := "refs/heads/" + name
			if heads[name] != "" && heads[name] != r.object(ctx, ref) {
				fetched = append(fetched, ref+":"+ref)
			}
		}
		if len(fetched) > known {
			if _, err := r.run(ctx, "", fetched...); err != nil {
				if attempt < 3 && ctx.Err() == nil && strings.Contains(err.Error(), "couldn't find remote ref") {
					continue // a branch was deleted after it was listed
				}
				r.broken = true
				return err
			}
		}
		for _, name := range names {
			if heads[name] != "" {
				r.tips[name] = r.object(ctx, "refs/heads/"+name)
			}
		}
		return nil
	}
}

// initialize creates the copy if it does not exist. listed is the output of git ls-remote, which determines the hash
// function.
func (r *repository) initialize(ctx context.Context, listed string) error {
	if _, err := os.Stat(r.dir); err == nil {
		return nil
	}
	format := "sha1"
	if id, _, _ := strings.Cut(listed, "\t"); len(id) == 64 {
		format = "sha256"
	}
	_, err := (&git{}).run(ctx, "", "init", "--quiet", "--bare", "--template=", "--object-format="+format, r.dir)
	return err
}

// proposed describes a commit that does not exist yet.
type proposed struct {
	// parent is the parent commit, or "" if there is none.
	parent string
	// before is the tree of the parent, and tree the tree of the commit.
	before, tree string
	// folder is the path of the folder that contains the files.
	folder string
	// created, changed, and deleted list file names.
	created, changed, deleted []string
}

func (p *proposed) isEmpty() bool { return p.before == p.tree }

// propose writes the files and trees of a change to the copy, and returns the commit to create.
func (r *repository) propose(ctx context.Context, parent, folder string, f *files) (*proposed, error) {
	p := &proposed{parent: parent, folder: folder}
	empty, err := r.run(ctx, "", "mktree")
	if err != nil {
		return nil, err
	}
	if p.before = empty; parent != "" {
		p.before = r.object(ctx, parent+"^{tree}")
	}
	names := slices.Sorted(maps.Keys(f.wanted))
	ids, err := r.write(ctx, names, f.wanted)
	if err != nil {
		return nil, err
	}
	list := []string{"ls-tree", "-z", p.before, folder + "/"}
	for dir := folder; dir != "."; dir = path.Dir(dir) {
		list = append(list, dir)
	}
	listed, err := r.run(ctx, "", list...)
	if err != nil {
		return nil, err
	}
	existing := map[string]string{} // output of ls-tree by name
	for entry := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
		about, name, _ := strings.Cut(entry, "\t")
		if strings.HasPrefix(folder+"/", name+"/") && !strings.HasPrefix(about, "040000 ") {
			return nil, fmt.Errorf("%s in %s is not a folder: set another path in %s", name, r.settings.Branch, settingsFile)
		}
		existing[strings.TrimPrefix(name, folder+"/")] = about
	}
	var index strings.Builder
	for i, name := range names {
		switch existing[name] {
		case "100644 blob " + ids[i]:
			continue
		case "":
			p.created = append(p.created, name)
		default:
			p.changed = append(p.changed, name)
		}
		fmt.Fprintf(&index, "100644 %s\t%s/%s\n", ids[i], folder, name)
	}
	for _, name := range slices.Sorted(maps.Keys(f.gone)) {
		if existing[name] != "" {
			p.deleted = append(p.deleted, name)
			fmt.Fprintf(&index, "0 %s\t%s/%s\n", strings.Repeat("0", len(empty)), folder, name)
		}
	}
	own := r.git
	own.env = append(slices.Clone(own.env), "GIT_INDEX_FILE="+filepath.Join(filepath.Dir(r.dir), "index"))
	if _, err := own.run(ctx, "", "read-tree", p.before); err != nil {
		return nil, err
	}
	if _, err := own.run(ctx, index.String(), "update-index", "--index-info"); err != nil {
		return nil, err
	}
	p.tree, err = own.run(ctx, "", "write-tree")
	return p, err
}

// write writes files as git objects with a single command, and returns their ids.
func (r *repository) write(ctx context.Context, names []string, contents map[string][]byte) ([]string, error) {
	dir := filepath.Join(filepath.Dir(r.dir), "files")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	var paths strings.Builder
	for _, name := range names {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, contents[name], 0o600); err != nil {
			return nil, err
		}
		fmt.Fprintln(&paths, file)
	}
	ids, err := r.run(ctx, paths.String(), "hash-object", "-w", "--no-filters", "--stdin-paths")
	return lines(ids), err
}

// commit creates a commit and returns its id. It signs the commit if the user's configuration requires it.
func (r *repository) commit(ctx context.Context, p *proposed, message string) (string, error) {
	r.identity(ctx)
	args := []string{"commit-tree", p.tree}
	if p.parent != "" {
		args = append(args, "-p", p.parent)
	}
	if sign, _ := r.ask(ctx, "config", "--type=bool", "commit.gpgSign"); sign == "true" {
		args = append(args, "-S")
	}
	return r.run(ctx, message, args...)
}

// push sets a remote branch to a commit. It returns an error if the branch has changed since it was fetched.
func (r *repository) push(ctx context.Context, commit, branch string) error {
	ref := "refs/heads/" + branch
	_, err := r.run(ctx, "", "push", "--quiet", "--no-verify", "--recurse-submodules=no",
		"--force-with-lease="+ref+":"+r.tips[branch], "lumi", commit+":"+ref)
	return err
}
