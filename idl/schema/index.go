package schema

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Index finds declarations in the output of [Compact] by its lines, without parsing all of it. It is immutable and safe for
// concurrent use.
type Index struct {
	header packageJSON
	text   string
	// foreign is the end of the text, which contains the other packages.
	foreign string
	entries []*entry
	byKey   map[declKey]*entry
	byToken map[string]*entry
}

// entry is a declaration in the text of an [Index].
type entry struct {
	key         declKey
	kind, token string
	// module, file, and start are the offsets of the lines on which the module, the file, and the declaration start.
	module, file, start int
}

// NewIndex returns an Index of text, which must be the output of [Compact]. If it is not, or has an unsupported version, NewIndex
// or the methods of the Index return an error.
func NewIndex(text string) (*Index, error) {
	x := &Index{text: text, byKey: map[declKey]*entry{}, byToken: map[string]*entry{}}
	if !strings.HasPrefix(text, `{"version":`) {
		return nil, errors.New("schema: expected the constant JSON of a lumischema package, which cidlc --out-provider writes")
	}
	first, _, more := strings.Cut(text, "\n")
	if more {
		first += "]}"
	}
	if err := checkVersion([]byte(first)); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if err := strict([]byte(first), &x.header); err != nil {
		return nil, fmt.Errorf("schema: line 1: %w", plain(err))
	}
	at := entry{}
	for line := range strings.Lines(text) {
		start := at.start
		at.start += len(line)
		member, rest, _ := strings.Cut(line, `:"`)
		value, rest, _ := strings.Cut(rest, `"`)
		switch {
		case member == `{"path"`:
			at.module, at.key.module = start, value
		case member == `{"name"` && !strings.HasPrefix(rest, `,"value":`): // not the member of an enum
			at.file = start
		case member == `{"kind"`:
			e := at
			e.kind, e.start = value, start
			e.key.name, rest, _ = strings.Cut(strings.TrimPrefix(rest, `,"name":"`), `"`)
			if _, token, ok := strings.Cut(rest, `,"token":"`); ok {
				e.token, _, _ = strings.Cut(token, `"`)
				x.byToken[e.token] = &e
			}
			x.entries = append(x.entries, &e)
			x.byKey[e.key] = &e
		}
		if strings.HasSuffix(line, `,"packages":[`+"\n") {
			x.foreign = text[at.start:]
			break
		}
	}
	return x, nil
}

// Name returns the name of the package.
func (x *Index) Name() string { return x.header.Name }

// Tokens returns the tokens of all declarations of a kind, "resource" or "function", in source order.
func (x *Index) Tokens(kind string) []string {
	var tokens []string
	for _, e := range x.entries {
		if e.kind == kind {
			tokens = append(tokens, e.token)
		}
	}
	return tokens
}

// Find returns the [Resource] or [Function] with a token, or nil if there is none. Its package contains only what it refers to,
// and of other resources only the names and tokens. Find returns the errors of [Read].
func (x *Index) Find(token string) (Decl, error) {
	if e := x.byToken[token]; e != nil {
		return x.find(e)
	}
	return nil, nil
}

// Config returns the configuration of the package's provider like Find, or nil if there is none.
func (x *Index) Config() (*Config, error) {
	i := slices.IndexFunc(x.entries, func(e *entry) bool { return e.kind == "config" })
	if i < 0 {
		return nil, nil
	}
	d, err := x.find(x.entries[i])
	c, _ := d.(*Config)
	return c, err
}

// references matches references to declarations of the package in compact JSON, outside strings.
var references = regexp.MustCompile(`\{"kind":"ref","module":"([^"]*)","name":"([^"]*)"\}`)

// find reads one declaration.
func (x *Index) find(wanted *entry) (Decl, error) {
	form := x.header
	if x.foreign != "" {
		if err := strict([]byte(`{"packages":[`+x.foreign), &form); err != nil {
			return nil, fmt.Errorf("schema: packages: %w", plain(err))
		}
	}
	raw := map[*entry]jsontext.Value{}
	needed := []*entry{wanted}
	for i := 0; i < len(needed); i++ {
		e := needed[i]
		if e.kind == "resource" && e != wanted {
			head, _ := marshal(&Resource{Header: Header{Kind: e.kind, Name: e.key.name}, Token: e.token}) // consists of strings
			raw[e] = jsontext.Value(head)
			continue
		}
		one, err := jsontext.NewDecoder(strings.NewReader(x.text[e.start:])).ReadValue()
		if err != nil {
			return nil, fmt.Errorf("schema: %s: %w", e.key.name, plain(err))
		}
		raw[e] = one
		for _, ref := range references.FindAllSubmatch(one, -1) {
			to := x.byKey[declKey{module: string(ref[1]), name: string(ref[2])}]
			if to != nil && !slices.Contains(needed, to) { // Otherwise, the builder reports it.
				needed = append(needed, to)
			}
		}
	}
	slices.SortFunc(needed, func(a, b *entry) int { return a.start - b.start })
	var last *entry
	for _, e := range needed {
		if last == nil || e.module != last.module {
			var m moduleJSON
			if err := x.open(e.module, &m); err != nil {
				return nil, err
			}
			form.Modules = append(form.Modules, m)
		}
		m := &form.Modules[len(form.Modules)-1]
		if last == nil || e.file != last.file {
			var f fileJSON
			if err := x.open(e.file, &f); err != nil {
				return nil, err
			}
			m.Files = append(m.Files, f)
		}
		f := &m.Files[len(m.Files)-1]
		f.Decls = append(f.Decls, raw[e])
		last = e
	}
	b := &builder{decls: make(map[declKey]Decl)}
	if _, err := b.build(&form); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return b.decls[wanted.key], nil
}

// open decodes an object that starts at an offset, without the elements of the list that ends its line.
func (x *Index) open(offset int, target any) error {
	line, _, _ := strings.Cut(x.text[offset:], "\n")
	if !strings.HasSuffix(line, "[") {
		return errors.New("schema: not compact JSON")
	}
	if err := strict([]byte(line+"]}"), target); err != nil {
		return fmt.Errorf("schema: %w", plain(err))
	}
	return nil
}
