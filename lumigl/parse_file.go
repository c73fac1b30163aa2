package lumigl

import (
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// Parser parses LumiGL. The limits of the zero Parser are suitable for all ordinary files.
type Parser struct {
	// MaxSize limits the size of files in bytes. The default is [DefaultMaxSize] and the maximum 4 GiB.
	MaxSize int64
	// MaxDepth limits the nesting of lists and objects. The default is 1,000. Files with deeper nesting can be parsed
	// but not written: Check rejects nesting of more than 1,000 levels.
	MaxDepth int
	// MaxValues limits the number of values of any kind. The default is 32 Mi (33,554,432). It bounds memory use: a
	// value takes about 100 bytes, and a vertex 300 to 600.
	MaxValues int
	// MaxFaults limits the number of reported errors. The default is 100.
	MaxFaults int
}

// DefaultMaxSize is the default limit on file sizes: 1 GiB.
const DefaultMaxSize = 1 << 30

const (
	limitOfSize      = 1<<32 - 1
	defaultMaxDepth  = 1000
	defaultMaxValues = 32 << 20
	defaultMaxFaults = 100
)

// Parse parses a file of either form. Any error is of type *[InvalidError].
func Parse(src string) (Document, error) { return Parser{}.Parse(src) }

// ParseGraph parses a general graph. Any error is of type *[InvalidError].
func ParseGraph(src string) (*Graph, error) { return Parser{}.ParseGraph(src) }

// ParseSnapshot parses a snapshot. Any error is of type *[InvalidError].
func ParseSnapshot(src string) (*Snapshot, error) { return Parser{}.ParseSnapshot(src) }

// Read reads and parses a file of either form. It returns an *[InvalidError], or the error of the reader.
func Read(r io.Reader) (Document, error) { return Parser{}.Read(r) }

func ofForm[D Document](d Document, err error) (D, error) {
	var wanted D
	if err != nil {
		return wanted, err
	}
	wanted, ok := d.(D)
	if !ok {
		message := fmt.Sprintf("expected a file with %q, got one with %q", wanted.form().section, d.form().section)
		return wanted, &InvalidError{Faults: []Fault{{Code: FormFault, Line: 1, Column: 1, Message: message}}}
	}
	return wanted, nil
}

// Read reads and parses a file of either form. It returns an *[InvalidError], or the error of the reader.
func (p Parser) Read(r io.Reader) (Document, error) {
	var b strings.Builder
	b.Grow(int(min(sizeOf(r), p.maxSize()) + 1))
	if _, err := io.Copy(&b, io.LimitReader(r, p.maxSize()+1)); err != nil {
		return nil, err
	}
	return p.Parse(b.String())
}

// sizeOf returns the number of unread bytes in r, or 0 if unknown.
func sizeOf(r io.Reader) int64 {
	switch r := r.(type) {
	case interface{ Len() int }:
		return int64(r.Len())
	case fs.File:
		if info, err := r.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	}
	return 0
}

// ParseGraph parses a general graph. Any error is of type *[InvalidError].
func (p Parser) ParseGraph(src string) (*Graph, error) { return ofForm[*Graph](p.Parse(src)) }

// ParseSnapshot parses a snapshot. Any error is of type *[InvalidError].
func (p Parser) ParseSnapshot(src string) (*Snapshot, error) { return ofForm[*Snapshot](p.Parse(src)) }

// Parse parses a file of either form. Any error is of type *[InvalidError]. The result shares memory with src.
func (p Parser) Parse(src string) (Document, error) {
	if doc := p.atOnce(src); doc != nil {
		return doc, nil
	}
	doc, invalid := p.thorough(src)
	if invalid != nil {
		return nil, invalid
	}
	return doc, nil
}

// ParseValue parses a JSON value of any kind as strictly as [Parser.Parse]. References are not resolved. Any error is
// of type *[InvalidError].
func (p Parser) ParseValue(src string) (Value, error) {
	f := p.newFaults()
	syntax := p.syntax(src, f)
	if syntax == nil {
		return Value{}, f.errIn("")
	}
	v := syntax.document()
	if invalid := f.errIn(src); invalid != nil {
		return Value{}, invalid
	}
	return v, nil
}

// thorough finds all errors in a text. It checks the graph only if the parser reached the end of the text and found no
// elisions.
func (p Parser) thorough(src string) (Document, *InvalidError) {
	f := p.newFaults()
	syntax := p.syntax(src, f)
	if syntax == nil {
		return nil, f.errIn("")
	}
	root := syntax.document()
	if syntax.stopped || syntax.elided {
		return nil, f.errIn(src)
	}
	doc := newBuilder(f, &syntax.memory).document(root)
	return doc, f.errIn(src)
}

// atOnce parses a text in one pass, adding each vertex to the graph as it is parsed. It returns nil at the first error;
// thorough then finds all errors.
func (p Parser) atOnce(src string) Document {
	f := &faults{max: 1}
	syntax := p.syntax(src, f)
	if syntax == nil {
		return nil
	}
	b := newBuilder(f, &syntax.memory)
	b.size = len(src)
	syntax.graph = b
	root := syntax.document()
	if syntax.stopped {
		return nil
	}
	doc := b.document(root)
	if f.full() {
		return nil
	}
	return doc
}

func (p Parser) newFaults() *faults {
	if p.MaxFaults <= 0 {
		return &faults{max: defaultMaxFaults}
	}
	return &faults{max: p.MaxFaults}
}

// syntax returns a parser for a text, or nil if the text is too large.
func (p Parser) syntax(src string, f *faults) *parser {
	if most := p.maxSize(); int64(len(src)) > most {
		f.add(Fault{Code: SizeFault, Message: fmt.Sprintf("the file is larger than %d bytes", most)})
		return nil
	}
	if p.MaxDepth <= 0 {
		p.MaxDepth = defaultMaxDepth
	}
	if p.MaxValues <= 0 {
		p.MaxValues = defaultMaxValues
	}
	return &parser{src: src, faults: f, levels: p.MaxDepth, most: p.MaxValues}
}

func (p Parser) maxSize() int64 {
	if p.MaxSize <= 0 {
		return DefaultMaxSize
	}
	return min(p.MaxSize, limitOfSize)
}
