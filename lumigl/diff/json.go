package diff

import (
	"encoding/json"
	"io"
	"strconv"

	"github.com/lumi-idl/lumi/internal/jsonpointer"
	"github.com/lumi-idl/lumi/lumigl"
)

// Version is the version of the format written by [Delta.WriteJSON]. It increases when a member is removed or changes
// its meaning, but not when a member is added.
const Version = 1

// deltaJSON is the JSON form of a delta, documented in docs/diff.md.
type deltaJSON struct {
	Version   int            `json:"version"`
	Equal     bool           `json:"equal"`
	Ref       jsonText       `json:"ref"`
	Summary   summaryJSON    `json:"summary"`
	Header    []changeJSON   `json:"header"`
	Resources []resourceJSON `json:"resources"`
	Moves     []moveJSON     `json:"moves"`
	Named     []moveJSON     `json:"named,omitempty"`
}

// jsonText is a string that is encoded with visible characters only. Package json leaves some terminal control
// characters unescaped.
type jsonText string

func (s jsonText) MarshalJSON() ([]byte, error) { return appendQuoted(nil, string(s)), nil }

type summaryJSON struct {
	Created   int `json:"created"`
	Deleted   int `json:"deleted"`
	Updated   int `json:"updated"`
	Replaced  int `json:"replaced"`
	Unchanged int `json:"unchanged"`
}

type resourceJSON struct {
	Key     jsonText        `json:"key"`
	Change  string          `json:"change"`
	Changes []changeJSON    `json:"changes,omitempty"`
	Old     json.RawMessage `json:"old,omitempty"`
	New     json.RawMessage `json:"new,omitempty"`
}

type changeJSON struct {
	Change   string          `json:"change"`
	Path     jsonText        `json:"path"`
	OldPath  jsonText        `json:"oldPath,omitempty"`
	Replaces bool            `json:"replaces,omitempty"`
	Secret   bool            `json:"secret,omitempty"`
	Old      json.RawMessage `json:"old,omitempty"`
	New      json.RawMessage `json:"new,omitempty"`
}

type moveJSON struct {
	From jsonText `json:"from"`
	To   jsonText `json:"to"`
}

// WriteJSON writes the delta as JSON with secrets masked.
func (d *Delta) WriteJSON(w io.Writer) error {
	out := deltaJSON{
		Version: Version, Equal: d.Empty(), Ref: jsonText(freeTag(d.old, d.new)), Summary: d.summary(),
		Header: []changeJSON{}, Resources: []resourceJSON{}, Moves: []moveJSON{},
	}
	e := &encoder{tag: string(out.Ref), hidden: d.contentsOfHeaders()}
	f := flattener{encoder: e, changes: out.Header}
	f.flatten(d.Header, "", "")
	out.Header = f.changes
	for i := range d.Resources {
		r := &d.Resources[i]
		e.hidden = r.contents()
		one := resourceJSON{Key: jsonText(r.Key), Change: r.Kind.String()}
		switch r.Kind {
		case Created:
			one.New = e.encode(d.body(r.New))
		case Deleted:
			one.Old = e.encode(d.body(r.Old))
		default:
			f := flattener{encoder: e}
			f.flatten(r.Changes, "", "")
			one.Changes = f.changes
		}
		out.Resources = append(out.Resources, one)
	}
	for _, m := range d.Moves {
		out.Moves = append(out.Moves, moveJSON{From: jsonText(m.Old.Key()), To: jsonText(m.New.Key())})
	}
	for _, m := range d.Named {
		out.Named = append(out.Named, moveJSON{From: jsonText(m.Old.Key()), To: jsonText(m.New.Key())})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

func (d *Delta) isSnapshot() bool {
	_, ok := d.new.(*lumigl.Snapshot)
	return ok
}

func (d *Delta) summary() summaryJSON {
	return summaryJSON{
		Created: d.Count(Created), Deleted: d.Count(Deleted), Updated: d.Count(Updated), Replaced: d.Count(Replaced),
		Unchanged: d.Unchanged,
	}
}

// flattener collects nested changes in one list.
type flattener struct {
	*encoder
	changes []changeJSON
}

func (f *flattener) flatten(changes []Change, oldPath, newPath string) {
	for i := range changes {
		c := &changes[i]
		from, to := step(oldPath, c, c.From), step(newPath, c, c.To)
		if c.Kind == Inside {
			f.flatten(c.Changes, from, to)
			continue
		}
		one := changeJSON{Change: c.Kind.String(), Path: jsonText(to), OldPath: jsonText(from), Replaces: c.Replaces}
		one.Secret = c.isSecret()
		if c.Kind == Removed {
			one.Path = jsonText(from)
		}
		if one.OldPath == one.Path || c.Kind == Added {
			one.OldPath = ""
		}
		if c.Old.Exists() {
			one.Old = f.side(c, c.Old)
		}
		if c.New.Exists() {
			one.New = f.side(c, c.New)
		}
		f.changes = append(f.changes, one)
	}
}

// step appends the key or index of a change to the JSON pointer at.
func step(at string, c *Change, index int) string {
	if c.isElement() {
		return at + "/" + strconv.Itoa(index)
	}
	return jsonpointer.Within(at, c.Key)
}
