package diff

import (
	"encoding/json"
	"io"
	"slices"
	"strconv"

	"github.com/lumi-idl/lumi/internal/jsonpointer"
	"github.com/lumi-idl/lumi/lumigl"
)

// PatchOptions say how a patch is written.
type PatchOptions struct {
	// ShowSecrets writes secrets too. Without it, a patch for which there are any cannot be applied.
	ShowSecrets bool
}

// operation is one of RFC 6902.
type operation struct {
	Op    string          `json:"op"`
	Path  jsonText        `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

// masked is what a patch tests for that leaves out secrets. No file is this, so that the patch fails before it writes a
// mask where a secret was.
const masked = "this patch leaves out secrets and cannot be applied; one that can be is made with --show-secrets"

// WritePatch writes the delta as a JSON Patch (RFC 6902): operations that make the new document's JSON of the old one's.
// The members of JSON objects have no order, so a file that was patched has to be put in order before it is a snapshot.
func (d *Delta) WritePatch(w io.Writer, o PatchOptions) error {
	p := patcher{
		encoder:    encoder{tag: lumigl.TagOf(d.new), reveal: o.ShowSecrets, hidden: d.contentsOfHeaders()},
		operations: []operation{},
	}
	p.document(d)
	if p.masked {
		p.operations = slices.Insert(p.operations, 0, operation{Op: "test", Path: "", Value: appendQuoted(nil, masked)})
	}
	return encodeJSON(w, p.operations)
}

// patcher collects operations.
type patcher struct {
	encoder
	operations []operation
}

// put adds an operation that puts a value somewhere. An element of a list that is absent is null in a file.
func (p *patcher) put(op, path string, v lumigl.Value) {
	p.operations = append(p.operations, operation{Op: op, Path: jsonText(path), Value: p.encode(v)})
}

func (p *patcher) remove(path string) {
	p.operations = append(p.operations, operation{Op: "remove", Path: jsonText(path)})
}

func (p *patcher) document(d *Delta) {
	tag := lumigl.TagOf(d.old)
	retag := tag != p.tag
	if retag {
		p.retag()
	}
	for i := range d.Header {
		c := &d.Header[i]
		switch {
		case c.Key == "ref", c.Key == "pending" && retag && c.Kind != Removed:
		case c.Key == "pending" && c.Kind == Inside:
			p.changes(c.Changes, "/pending")
		default:
			p.change(c, jsonpointer.Within("", c.Key))
		}
	}
	if retag {
		p.sections(d)
		return
	}
	for i := range d.Resources {
		r := &d.Resources[i]
		path := jsonpointer.Within(d.section(), r.Key)
		p.hidden = r.contents()
		switch r.Kind {
		case Created:
			p.put("add", path, d.body(r.New))
		case Deleted:
			p.remove(path)
		default:
			p.changes(r.Changes, path)
		}
	}
}

// section is the JSON pointer to the vertices.
func (d *Delta) section() string {
	if d.isSnapshot() {
		return "/resources"
	}
	return "/vertices"
}

func (p *patcher) retag() {
	if p.tag == lumigl.DefaultTag {
		p.remove("/ref")
		return
	}
	p.put("add", "/ref", lumigl.TextOf(p.tag))
}

// sections replaces all that may hold references, since they are marked in another way.
func (p *patcher) sections(d *Delta) {
	var all lumigl.ObjectBuilder
	p.hidden = d.contentsOfHeaders()
	for v := range d.old.Base().Vertices() {
		p.hidden.look(d.body(v), false)
	}
	for v := range d.new.Base().Vertices() {
		body := d.body(v)
		p.hidden.look(body, false)
		all.Set(v.Key(), body)
	}
	p.put("add", d.section(), all.Object())
	if s, ok := d.new.(*lumigl.Snapshot); ok {
		if pending := pendingValue(&s.Pending); pending.Exists() {
			p.put("add", "/pending", pending)
		}
	}
}

// changes adds the operations for the parts of an object.
func (p *patcher) changes(changes []Change, at string) {
	for i := range changes {
		p.change(&changes[i], jsonpointer.Within(at, changes[i].Key))
	}
}

func (p *patcher) change(c *Change, at string) {
	switch {
	case c.Kind == Added:
		p.put("add", at, c.New)
	case c.Kind == Removed:
		p.remove(at)
	case c.Kind != Inside:
		p.operations = append(p.operations, operation{Op: "replace", Path: jsonText(at), Value: p.side(c, c.New)})
	case c.New.Kind() == lumigl.List:
		p.list(c, at)
	default:
		p.changes(c.Changes, at)
	}
}

// list adds the operations for the elements of a list, from the first to the last, so that at each all before it is as
// it will be. A list of which most is another is replaced.
func (p *patcher) list(c *Change, at string) {
	if most := max(c.Old.Len(), c.New.Len()); len(c.Changes) > manyElements && len(c.Changes) > most/2 {
		p.put("replace", at, c.New)
		return
	}
	from, to := 0, 0 // how many elements have been dealt with
	for i := range c.Changes {
		e := &c.Changes[i]
		if e.Kind == Added {
			from, to = from+e.To-to, e.To
		} else {
			from, to = e.From, to+e.From-from
		}
		p.change(e, at+"/"+strconv.Itoa(to))
		if e.Kind != Added {
			from++
		}
		if e.Kind != Removed {
			to++
		}
	}
}

// manyElements is up to how many elements of a list are changed one by one, even if those are most of them.
const manyElements = 16
