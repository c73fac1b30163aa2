package taskgraph

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/lumi-idl/lumi/internal/yamltree"
)

// maxNesting is the maximum nesting depth of values.
const maxNesting = 100

// Document decodes a YAML or JSON document and collects the problems in it.
type Document struct {
	Problems []Problem
	// Task and Attribute are copied to new problems.
	Task, Attribute string
	// Scalar returns the value of a scalar, or false to decode it as usual. It may be nil.
	Scalar func(n *yaml.Node) (v any, ok bool)
}

// Read parses src, which must contain exactly one document. It returns the root, or nil if the document is empty or
// malformed.
func (d *Document) Read(src []byte) *yaml.Node {
	documents, errs := yamltree.Read(src)
	isBroken := len(documents) == 0
	for _, e := range errs {
		d.Fail(&yaml.Node{Line: e.Line, Column: e.Column}, "%s", e.Message)
		isBroken = isBroken || e.Message != "duplicate key"
	}
	if len(documents) > 1 && len(errs) == 0 {
		d.Fail(documents[1], "unexpected second document")
		isBroken = true
	}
	if isBroken {
		return nil
	}
	return documents[0].Content[0]
}

// Fail adds a problem with the position of a node.
func (d *Document) Fail(n *yaml.Node, format string, args ...any) {
	d.Problems = append(d.Problems, Problem{
		Task: d.Task, Attribute: d.Attribute, Line: n.Line, Column: n.Column, Message: fmt.Sprintf(format, args...),
	})
}

// Err returns an *[Error] with all problems in source order, or nil if there are none.
func (d *Document) Err(file string) error {
	if len(d.Problems) == 0 {
		return nil
	}
	slices.SortStableFunc(d.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return &Error{File: file, Problems: d.Problems}
}

// Value converts a node to a JSON value. Timestamps become strings. Numbers become [json.Number] values with all their
// digits.
func (d *Document) Value(n *yaml.Node) any { return d.value(n, 0) }

func (d *Document) value(n *yaml.Node, depth int) any {
	switch {
	case depth > maxNesting:
		d.Fail(n, "nested more than %d levels deep", maxNesting)
		return nil
	case n.Kind == yaml.MappingNode && n.ShortTag() == "!!map":
		return d.object(n, depth)
	case n.Kind == yaml.SequenceNode && n.ShortTag() == "!!seq":
		v := make([]any, len(n.Content))
		for i, item := range n.Content {
			v[i] = d.value(item, depth+1)
		}
		return v
	}
	if d.Scalar != nil {
		if v, ok := d.Scalar(n); ok {
			return v
		}
	}
	v, err := scalar(n)
	if err != nil {
		d.Fail(n, "%s", err)
	}
	return v
}

func (d *Document) object(n *yaml.Node, depth int) map[string]any {
	v := map[string]any{}
	for pair := range slices.Chunk(n.Content, 2) {
		key, err := scalar(pair[0])
		name, ok := key.(string)
		if depth == 0 && d.Task != "" {
			d.Attribute = name
		}
		if !ok || err != nil || pair[0].Kind != yaml.ScalarNode {
			d.Fail(pair[0], "a key must be a string; put it in quotes")
			continue
		}
		v[name] = d.value(pair[1], depth+1)
	}
	return v
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$`)

func scalar(n *yaml.Node) (v any, err error) {
	const notPlain = yaml.TaggedStyle | yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if n.Style&notPlain == 0 && jsonNumber.MatchString(n.Value) {
		return json.Number(n.Value), nil
	}
	switch n.ShortTag() {
	case "!!str", "!!timestamp", "!!merge":
		return n.Value, nil
	case "!!null", "!!bool", "!!int", "!!float":
		if err := n.Decode(&v); err != nil {
			return nil, fmt.Errorf("%q is not a valid %s value", n.Value, n.ShortTag())
		}
	default:
		return nil, fmt.Errorf("unsupported tag %s", n.ShortTag())
	}
	if v == nil || v == true || v == false {
		return v, nil
	}
	if whole, ok := new(big.Int).SetString(strings.TrimPrefix(strings.ReplaceAll(n.Value, "_", ""), "+"), 0); ok {
		return json.Number(whole.String()), nil
	}
	if f, ok := v.(float64); ok && (math.IsInf(f, 0) || math.IsNaN(f)) {
		return nil, fmt.Errorf("%s is not a valid JSON number; put it in quotes if it is text", n.Value)
	}
	text, err := json.Marshal(v)
	return json.Number(text), err
}
