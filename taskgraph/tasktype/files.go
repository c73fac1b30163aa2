package tasktype

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/lumi-idl/lumi/taskgraph/host"
)

func uploadFile(ctx context.Context, c *Call) error {
	p := c.Task.Parameters
	dst, src := c.dir(str(p, "path")), str(p, "src")
	template := str(p, "template")
	if src == "" && template == "" {
		return c.Host.Write(ctx, dst, permissions(p, "permissions", 0o644), strings.NewReader(str(p, "data")))
	}
	from, err := c.sources()
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	if template != "" {
		content, mode, err := c.render(ctx, from, template)
		if err != nil {
			return err
		}
		return c.Host.Write(ctx, dst, permissions(p, "permissions", mode), content)
	}
	return c.copyFile(ctx, from, src, dst, permissions(p, "permissions", 0))
}

// copyFile copies a file to the node. If mode is 0, the copy has the mode of the source.
func (c *Call) copyFile(ctx context.Context, from *sources, src, dst string, mode fs.FileMode) error {
	file, err := from.open(src)
	if err != nil {
		return err
	}
	defer file.Close()
	if file.info.IsDir() {
		return fmt.Errorf("src %s: not a file", src)
	}
	return c.Host.Write(ctx, dst, cmp.Or(mode, file.info.Mode().Perm()), file)
}

// copyAll copies the named files of a folder to the node, up to four at a time.
func (c *Call) copyAll(ctx context.Context, from *sources, src, dst string, names []string, mode fs.FileMode) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for _, name := range names {
		group.Go(func() error { return c.copyFile(ctx, from, path.Join(src, name), path.Join(dst, name), mode) })
	}
	return group.Wait()
}

func copyFiles(ctx context.Context, c *Call) error {
	p := c.Task.Parameters
	from, err := c.sources()
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	list, _ := p["files"].([]any)
	for _, item := range list {
		pair, _ := item.(map[string]any)
		dst := c.dir(str(pair, "dst"))
		src, here, err := from.tree(str(pair, "src"))
		if err != nil {
			return err
		}
		if !here["."].IsDir() && strings.HasSuffix(str(pair, "dst"), "/") {
			dst = path.Join(dst, path.Base(str(pair, "src")))
		}
		const folder = "[ -d %[1]s ] || { mkdir -p %[1]s && chmod %[2]o %[1]s; } || exit\n"
		mode := permissions(p, "dir_permissions", 0o755)
		script, files := fmt.Sprintf(folder, host.QuotePath(path.Dir(dst)), mode), []string(nil)
		for _, name := range slices.Sorted(maps.Keys(here)) {
			switch at := host.QuotePath(path.Join(dst, name)); here[name].kind() {
			case "d":
				script += fmt.Sprintf(folder, at, mode)
			case "l":
				script += makeLink(at, here[name])
			default:
				files = append(files, name)
			}
		}
		linked, err := c.run(ctx, command{script: script, all: true})
		if err != nil {
			return err
		}
		if err := c.copyAll(ctx, from, src, dst, files, permissions(p, "permissions", 0)); err != nil {
			return err
		}
		c.Log("info", fmt.Sprintf("%s: %d copied", dst, len(files)+len(linked)))
	}
	return nil
}

// makeLink returns a script that makes a link at a quoted path. It prints a line unless the link already exists.
func makeLink(at string, e entry) string {
	return fmt.Sprintf("[ -h %[1]s ] && [ \"$(readlink %[1]s)\" = %[2]s ] || { rm -f %[1]s && ln -s %[2]s %[1]s && echo; } || exit\n",
		at, quote(e.link))
}

// isPrecious reports whether syncing a directory could delete files required by the system.
func isPrecious(dst string) bool {
	if rest, ok := strings.CutPrefix(dst, "~"); ok && (rest == "" || rest[0] == '/') {
		dst = "/home/user" + rest // checked again on the node
	}
	dst = path.Clean(dst)
	top, below, _ := strings.Cut(strings.TrimPrefix(dst, "/"), "/")
	shallow := []string{"home", "Users", "usr", "boot", "dev", "proc", "sys"}
	return !path.IsAbs(dst) || below == "" || !strings.Contains(below, "/") && slices.Contains(shallow, top) ||
		dst == "/var/lib" || dst == "/var/log"
}

func precious(dst string) string {
	return fmt.Sprintf("sync deletes files that are not in src, so dst must be a dedicated directory, such as /srv/app, not %s", dst)
}

// listing is a script that lists the contents of a directory: lines starting with d for directories, x for executables,
// l for symbolic links, and o for special files, followed by the checksums of files.
const listing = `cd %s || exit
if command -v sha256sum >/dev/null; then sum=sha256sum
elif command -v shasum >/dev/null; then sum="shasum -a 256"
else echo "sha256sum is not installed on this node"; exit 127; fi
find . -type d | sed "s/^/d /"
find . -type f -perm -100 | sed "s/^/x /"
find . -type l | sed "s/^/l /"
find . ! -type d ! -type f ! -type l | sed "s/^/o /"
find . -type f -exec $sum {} +
`

// syncFolder mirrors a folder on the node: names, contents, links, and the execute permission of the owner.
func syncFolder(ctx context.Context, c *Call) error {
	from, err := c.sources()
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	dst := str(c.Task.Parameters, "dst")
	src, here, err := from.tree(str(c.Task.Parameters, "src"))
	if err != nil {
		return err
	}
	if !here["."].IsDir() {
		return fmt.Errorf("src %s: not a directory", src)
	}
	// dst may be a symbolic link on the node, so the real path is checked.
	real, err := c.run(ctx, command{script: fmt.Sprintf("mkdir -p %[1]s && cd %[1]s && pwd -P", host.QuotePath(dst)), all: true})
	if err != nil {
		return err
	}
	if isPrecious(real[0]) {
		return fmt.Errorf("%s is %s: %s", dst, real[0], precious(real[0]))
	}
	there, err := c.list(ctx, dst)
	if err != nil {
		return err
	}
	script, deleted, files := "cd "+host.QuotePath(dst)+" || exit\n", 0, []string(nil)
	for _, name := range slices.Sorted(maps.Keys(there)) {
		e, wanted := here[name]
		if kind := there[name]; !wanted || kind == "o" || len(kind) == 1 && kind != e.kind() || len(kind) > 1 && e.kind() != "" {
			script += "rm -rf " + quote("./"+name) + " || exit\n"
			deleted++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(here)) {
		switch at := quote("./" + name); here[name].kind() {
		case "d":
			script += "mkdir -p " + at + " || exit\n"
			continue
		case "l":
			script += makeLink(at, here[name])
			continue
		}
		sum, err := checksum(from, path.Join(src, name), here[name].FileMode)
		if err != nil {
			return err
		}
		if there[name] != sum {
			files = append(files, name)
		}
	}
	linked, err := c.run(ctx, command{script: script, all: true})
	if err != nil {
		return err
	}
	if err := c.copyAll(ctx, from, src, dst, files, 0); err != nil {
		return err
	}
	c.Log("info", fmt.Sprintf("%s: %d copied, %d deleted", dst, len(files)+len(linked), deleted))
	return nil
}

// list returns the contents of a directory on the node by path: d for a directory, l for a link, o for a special file, and
// the result of checksum for a file.
func (c *Call) list(ctx context.Context, dst string) (map[string]string, error) {
	lines, err := c.run(ctx, command{script: fmt.Sprintf(listing, host.QuotePath(dst)), all: true})
	if err != nil {
		return nil, err
	}
	there, programs := map[string]string{}, map[string]string{}
	for _, line := range lines {
		kind, name, _ := strings.Cut(line, " ")
		name = strings.TrimLeft(name, " *")
		inside, below := strings.CutPrefix(name, "./")
		switch {
		case name == ".":
		case !below || strings.HasPrefix(kind, `\`):
			return nil, fmt.Errorf("%s: a file name contains a line break or backslash: %q", dst, line)
		case kind == "x":
			programs[inside] = kind
		case kind == "d" || kind == "l" || kind == "o":
			there[inside] = kind
		default:
			there[inside] = kind + programs[inside]
		}
	}
	return there, nil
}

func checksum(from *sources, name string, mode fs.FileMode) (string, error) {
	file, err := from.open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	if mode&0o100 != 0 {
		return fmt.Sprintf("%xx", hash.Sum(nil)), nil
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), nil
}
