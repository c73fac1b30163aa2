package atomicfile

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// power simulates the states of a folder after a power failure. Unsynced content may be lost, completely or partly.
// Unsynced changes of names may survive in any combination, since some file systems do not preserve their order.
type power struct {
	dir    string
	inodes []*inode
	names  map[string]int // inodes by name, as seen by the running system
	synced map[string]int // inodes by name, as known to be on disk
	since  []change       // changes of names since the last sync
	by     map[*faultyFile]int
}

type inode struct {
	content, synced string
	safe            bool // whether the content is unchanged since the last sync
}

// change is an atomic change to the names in a folder.
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
		if !created { // the file existed before
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

// states calls each with every possible state after a power failure.
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

// contents enumerates the possible contents of unsynced files: the synced content, no content, part of the new content,
// zeros, as on some file systems, or all of the new content.
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

// TestPowerFailure simulates a power failure after each operation and checks all possible states.
func TestPowerFailure(t *testing.T) {
	for name, before := range scenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if lost := survives(t, before, func(op) bool { return true }); lost != "" {
				t.Error(lost)
			}
		})
	}
	// The simulation must detect if either sync is missing.
	for _, without := range []string{"sync", "sync folder"} {
		if survives(t, oldText, func(o op) bool { return o.name != without }) == "" {
			t.Errorf("simulation without %s lost nothing, want a loss", without)
		}
	}
}

// survives simulates a disk that ignores the operations rejected by does. It describes the loss, or returns "" if there
// is none.
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
	must(t, write(d, path, Bytes([]byte(newText)), 0o600))
	look("at the end", newText)
	return lost
}
