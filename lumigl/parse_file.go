package lumigl

import (
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// Parser reads files. The zero Parser has limits that no honest file meets.
type Parser struct {
	// MaxSize is the size of the largest file that is read, in bytes: [DefaultMaxSize] if it is 0, and never over 4 GiB.
	MaxSize int64
	// MaxDepth is how deep lists and objects may be nested, 1,000 if it is 0. With more, files can be read that are not
	// written: what is nested deeper than 1,000 levels is a fault to the method Check, which comes before.
	MaxDepth int
	// MaxValues is how many values there may be: numbers, strings, lists, objects and all. It bounds the memory that a file
	// takes, which is some 100 bytes for each, and for those that are vertices 300 to 600. It is 32 Mi (33,554,432) if it
	// is 0.
	MaxValues int
	// MaxFaults is how many faults are reported, 100 if it is 0.
	MaxFaults int
}

// DefaultMaxSize is the size of the largest file that is read unless somebody says otherwise: 1 GiB.
const DefaultMaxSize = 1 << 30

const (
	limitOfSize      = 1<<32 - 1
	defaultMaxDepth  = 1000
	defaultMaxValues = 32 << 20
	defaultMaxFaults = 100
)

// Parse reads a file of either form. The error is an *[InvalidError].
func Parse(src string) (Document, error) { return Parser{}.Parse(src) }

// ParseGraph reads a general graph. The error is an *[InvalidError].
func ParseGraph(src string) (*Graph, error) { return Parser{}.ParseGraph(src) }

// ParseSnapshot reads a snapshot. The error is an *[InvalidError].
func ParseSnapshot(src string) (*Snapshot, error) { return Parser{}.ParseSnapshot(src) }

// Read reads a file of either form, which is no longer than need be in memory. The error is an *[InvalidError], or that
// of the reader.
func Read(r io.Reader) (Document, error) { return Parser{}.Read(r) }

func ofForm[D Document](d Document, err error) (D, error) {
	var wanted D
	if err != nil {
		return wanted, err
	}
	wanted, ok := d.(D)
	if !ok {
		message := fmt.Sprintf("expected %q, found %q: it is the other form of files", wanted.form().section, d.form().section)
		return wanted, &InvalidError{Faults: []Fault{{Code: FormFault, Line: 1, Column: 1, Message: message}}}
	}
	return wanted, nil
}

// Read reads a file of either form. The error is an *[InvalidError], or that of the reader.
func (p Parser) Read(r io.Reader) (Document, error) {
	var b strings.Builder
	b.Grow(int(min(sizeOf(r), p.maxSize()) + 1))
	if _, err := io.Copy(&b, io.LimitReader(r, p.maxSize()+1)); err != nil {
		return nil, err
	}
	return p.Parse(b.String())
}

// sizeOf is how much there is to read, 0 if nobody knows.
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

// ParseGraph reads a general graph. The error is an *[InvalidError].
func (p Parser) ParseGraph(src string) (*Graph, error) { return ofForm[*Graph](p.Parse(src)) }

// ParseSnapshot reads a snapshot. The error is an *[InvalidError].
func (p Parser) ParseSnapshot(src string) (*Snapshot, error) { return ofForm[*Snapshot](p.Parse(src)) }

// Parse reads a file of either form. The error is an *[InvalidError]. What is read shares the memory of the source.
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

// ParseValue reads any JSON, as strictly as [Parser.Parse] reads files. Nothing in it is taken for a reference. The
// error is an *[InvalidError].
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

// thorough reads a text for all that is wrong with it: first its syntax, and then, if it was read to the end and nothing
// was left out, the graph.
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

// atOnce reads a text in one pass: each vertex becomes a part of the graph as soon as it is read. It gives up, and
// returns nil, at the first fault, since what there is to say of it depends on what follows.
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

// syntax returns what reads a text, nil if the text is too large.
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
