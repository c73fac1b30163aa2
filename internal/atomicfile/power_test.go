package atomicfile

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// power notes what is done to a folder so as to tell what may be left of it after a loss of power: of what was not
// synced, anything. The contents of a file may be lost, in part too, until the file is synced; what was done to names,
// until the folder is, and any part of it in any combination, since not every file system keeps its order.
type power struct {
	dir    string
	inodes []*inode
	names  map[string]int // what the running system sees: the inode of each name
	synced map[string]int // what is on the disk for sure
	since  []change       // what was done to names since
	by     map[*faultyFile]int
}

type inode struct {
	content, synced string
	safe            bool // nothing was written since it was synced
}

// change is one thing that was done to names, all of it or nothing.
type change struct {
	add    string
	inode  int
	remove string
}

func newPower(t testing.TB, dir string) *power {
	p := &power{dir: dir, names: map[string]int{}, by: map[*faultyFile]int{}}
	for _, name := range names(t, dir) {
		text := mustRead(t, filepath.Join(dir, name))
		p.names[name] = p.add(&inode{content: text, synced: text, safe: true})
	}
	p.synced = maps.Clone(p.names)
	return p
}

func (p *power) add(i *inode) int {
	p.inodes = append(p.inodes, i)
	return len(p.inodes) - 1
}

func (p *power) did(o op) {
	name := filepath.Base(o.path)
	switch o.name {
	case "create":
		i := p.add(&inode{})
		p.by[o.file] = i
		p.change(change{add: name, inode: i})
	case "write":
		i, created := p.by[o.file]
		if !created { // It was there before.
			i = p.names[name]
			p.inodes[i].content = ""
		}
		p.inodes[i].content += string(o.data)
		p.inodes[i].safe = false
	case "sync":
		i := p.inodes[p.by[o.file]]
		i.synced, i.safe = i.content, true
	case "link":
		p.change(change{add: filepath.Base(o.to), inode: p.names[name]})
	case "rename":
		p.change(change{add: filepath.Base(o.to), inode: p.names[name], remove: name})
	case "remove":
		p.change(change{remove: name})
	case "sync folder":
		p.synced, p.since = maps.Clone(p.names), nil
	}
}

func (p *power) change(c change) {
	c.do(p.names)
	p.since = append(p.since, c)
}

func (c change) do(names map[string]int) {
	if c.remove != "" {
		delete(names, c.remove)
	}
	if c.add != "" {
		names[c.add] = c.inode
	}
}

// states calls each with what may be in the folder after a loss of power.
func (p *power) states(each func(map[string]string)) {
	for subset := range 1 << len(p.since) {
		names := maps.Clone(p.synced)
		for i, c := range p.since {
			if subset>>i&1 == 1 {
				c.do(names)
			}
		}
		p.contents(names, slices.Sorted(maps.Keys(names)), map[string]string{}, each)
	}
}

// contents goes through what may be in the files that were not synced: what was synced before, nothing, a part, zeros
// as some file systems have it, or all.
func (p *power) contents(names map[string]int, rest []string, so map[string]string, each func(map[string]string)) {
	if len(rest) == 0 {
		each(so)
		return
	}
	i := p.inodes[names[rest[0]]]
	contents := []string{i.synced}
	if !i.safe {
		half := i.content[:len(i.content)/2]
		contents = append(contents, "", half, half+strings.Repeat("\x00", len(half)), i.content)
	}
	slices.Sort(contents)
	for _, content := range slices.Compact(contents) {
		so[rest[0]] = content
		p.contents(names, rest[1:], so, each)
	}
}

// TestPower cuts the power after every operation and looks at all that may be left.
func TestPower(t *testing.T) {
	for name, before := range scenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if lost := survives(t, before, func(op) bool { return true }); lost != "" {
				t.Error(lost)
			}
		})
	}
	// The model has to see what would go wrong without either sync.
	for _, without := range []string{"sync", "sync folder"} {
		if survives(t, oldText, func(o op) bool { return o.name != without }) == "" {
			t.Errorf("nothing is lost without %s: this test shows nothing", without)
		}
	}
}

// survives describes what is lost, if anything, when the disk does only the operations for which does returns true.
func survives(t *testing.T, before string, does func(op) bool) (lost string) {
	path := set(t, before)
	dir, base := filepath.Split(path)
	p := newPower(t, dir)
	look := func(when string, allowed ...string) {
		p.states(func(left map[string]string) {
			if lost != "" {
				return
			}
			path := filepath.Join(t.TempDir(), base)
			for name, content := range left {
				mustWrite(t, filepath.Join(filepath.Dir(path), name), content)
			}
			if got := state(t, path); !slices.Contains(allowed, got) {
				lost = fmt.Sprintf("the power fails %s: got %q, want one of %q", when, got, allowed)
				return
			}
			check(t, path, before)
		})
	}
	d := &faulty{quick: true}
	d.after = func(o op) {
		if o.changes() && does(o) {
			p.did(o)
			look("after "+o.String(), before, newText)
		}
	}
	must(t, write(d, path, []byte(newText), 0o600))
	look("at the end", newText)
	return lost
}
