package lumigl

import (
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// Parser parses LumiGL. The limits of the zero Parser suit all ordinary files.
type Parser struct {
	// MaxSize limits the size of files in bytes. The default is [DefaultMaxSize] and the maximum 4 GiB.
	MaxSize int64
	// MaxDepth limits the nesting of lists and objects. The default is 1,000. A higher limit applies only to reading:
	// Check rejects nesting of more than 1,000 levels, so such files cannot be written.
	MaxDepth int
	// MaxValues limits the number of values: numbers, strings, lists, objects, and so on. The default is 32 Mi
	// (33,554,432). It bounds memory, since a value takes about 100 bytes and a vertex 300 to 600.
	MaxValues int
	// MaxFaults limits the number of reported errors. The default is 100.
	MaxFaults int
}

// DefaultMaxSize is the default limit of file sizes: 1 GiB.
const DefaultMaxSize = 1 << 30

const (
	limitOfSize      = 1<<32 - 1
	defaultMaxDepth  = 1000
	defaultMaxValues = 32 << 20
	defaultMaxFaults = 100
)

// Parse parses a file of either form. The error is an *[InvalidError].
func Parse(src string) (Document, error) { return Parser{}.Parse(src) }

// ParseGraph parses a general graph. The error is an *[InvalidError].
func ParseGraph(src string) (*Graph, error) { return Parser{}.ParseGraph(src) }

// ParseSnapshot parses a snapshot. The error is an *[InvalidError].
func ParseSnapshot(src string) (*Snapshot, error) { return Parser{}.ParseSnapshot(src) }

// Read reads and parses a file of either form. The error is an *[InvalidError] or comes from the reader.
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

// Read reads and parses a file of either form. The error is an *[InvalidError] or comes from the reader.
func (p Parser) Read(r io.Reader) (Document, error) {
	var b strings.Builder
	b.Grow(int(min(sizeOf(r), p.maxSize()) + 1))
	if _, err := io.Copy(&b, io.LimitReader(r, p.maxSize()+1)); err != nil {
		return nil, err
	}
	return p.Parse(b.String())
}

// sizeOf returns the number of bytes left in r, or 0 if unknown.
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

// ParseGraph parses a general graph. The error is an *[InvalidError].
func (p Parser) ParseGraph(src string) (*Graph, error) { return ofForm[*Graph](p.Parse(src)) }

// ParseSnapshot parses a snapshot. The error is an *[InvalidError].
func (p Parser) ParseSnapshot(src string) (*Snapshot, error) { return ofForm[*Snapshot](p.Parse(src)) }

// Parse parses a file of either form. The error is an *[InvalidError]. The result shares memory with src.
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

// ParseValue parses any JSON value as strictly as [Parser.Parse] does, but without references. The error is an
// *[InvalidError].
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

// thorough finds all errors in a text: first in its syntax and then, if it was read to the end without elisions, in the
// graph.
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

// atOnce parses a text in one pass, adding each vertex to the graph as soon as it is read. It returns nil at the first
// error, which thorough then reports in full.
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
