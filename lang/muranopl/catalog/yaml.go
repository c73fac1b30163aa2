package catalog

import (
	"fmt"
	"math"
	"math/big"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/lumi-idl/lumi/internal/yamltree"
	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lang/yaql"
)

// Errors lists the problems found in a file.
type Errors []*muranopl.Error

func (e Errors) Error() string {
	texts := make([]string, len(e))
	for i, one := range e {
		texts[i] = one.Error()
	}
	return strings.Join(texts, "\n")
}

// Decode returns the nonempty documents of a YAML file of classes. A plain scalar that looks like an expression becomes
// an expression; a quoted scalar becomes a string. The tags !yaql and !!str override this. Any error is of type
// [Errors].
func Decode(file string, src []byte) ([]*muranopl.Node, error) {
	r := &reader{file: file, src: string(src), expressions: true}
	documents, errs := r.documents()
	if errs != nil {
		return nil, errs
	}
	return documents, nil
}

// Model returns an object model read from JSON or YAML. Models do not contain expressions. Any error is of type
// [Errors].
func Model(file string, src []byte) (*muranopl.Node, error) {
	if len(src) > maxModel {
		return nil, Errors{failAt(muranopl.Position{File: file}, "larger than %d MiB", maxModel>>20)}
	}
	v, notJSON := yaql.FromJSON(src)
	if notJSON != nil && strings.EqualFold(path.Ext(file), ".json") {
		pos := muranopl.Position{File: file}
		_, _ = fmt.Sscanf(notJSON.Error(), "%d:%d:", &pos.Line, &pos.Column) // the message starts with the position
		_, message, _ := strings.Cut(notJSON.Error(), ": ")
		return nil, Errors{failAt(pos, "invalid JSON: %s", message)}
	}
	r := &reader{file: file, src: string(src), json: notJSON == nil}
	documents, errs := r.documents()
	switch {
	case r.json && errs != nil && strings.HasPrefix(errs[0].Message, "invalid YAML"): // not all JSON is valid YAML
		n := muranopl.Tree(v)
		n.Pos = muranopl.Position{File: file, Line: 1, Column: 1}
		return n, nil
	case errs != nil:
		return nil, errs
	case len(documents) != 1:
		return nil, Errors{failAt(muranopl.Position{File: file}, "expected one document, got %d", len(documents))}
	}
	return documents[0], nil
}

func failAt(pos muranopl.Position, format string, args ...any) *muranopl.Error {
	return &muranopl.Error{Kind: muranopl.Syntax, Message: fmt.Sprintf(format, args...), Pos: pos}
}

// reader converts a YAML file to trees.
type reader struct {
	file, src   string
	expressions bool
	json        bool  // parse numbers as JSON
	lines       []int // offset of each line
	errs        Errors
}

func (r *reader) documents() ([]*muranopl.Node, Errors) {
	r.lines = []int{0}
	for _, at := range lineBreak.FindAllStringIndex(r.src, -1) {
		r.lines = append(r.lines, at[1])
	}
	documents, errs := yamltree.Read([]byte(r.src))
	for _, e := range errs {
		r.errs = append(r.errs, failAt(muranopl.Position{File: r.file, Line: e.Line, Column: e.Column}, "%s", e.Message))
	}
	var trees []*muranopl.Node
	for _, d := range documents {
		if t := r.tree(d.Content[0]); t.Value != nil {
			trees = append(trees, t)
		}
	}
	if r.errs != nil {
		return nil, r.errs
	}
	return trees, nil
}

// lineBreak matches a line break in YAML.
var lineBreak = regexp.MustCompile("\r\n|[\r\n\u0085\u2028\u2029]")

func (r *reader) tree(n *yaml.Node) *muranopl.Node {
	t := &muranopl.Node{Pos: muranopl.Position{File: r.file, Line: n.Line, Column: n.Column}}
	switch {
	case n.Kind == yaml.ScalarNode:
		r.scalar(n, t)
	case n.Style&yaml.TaggedStyle != 0 && n.Tag != "!!seq" && n.Tag != "!!map":
		r.fail(t, "unsupported tag %s", n.Tag)
	case n.Kind == yaml.SequenceNode:
		items := make([]*muranopl.Node, len(n.Content))
		for i, item := range n.Content {
			items[i] = r.tree(item)
		}
		t.Value = items
	default:
		entries := make([]muranopl.Entry, 0, len(n.Content)/2)
		for pair := range slices.Chunk(n.Content, 2) {
			entries = append(entries, muranopl.Entry{Key: r.tree(pair[0]), Value: r.tree(pair[1])})
		}
		t.Value = entries
	}
	return t
}

func (r *reader) fail(n *muranopl.Node, format string, args ...any) {
	r.errs = append(r.errs, failAt(n.Pos, format, args...))
}

const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// scalar sets the value of t. Plain scalars are parsed according to YAML 1.1, except that timestamps are strings.
func (r *reader) scalar(n *yaml.Node, t *muranopl.Node) {
	tagged, ok := n.Style&yaml.TaggedStyle != 0, true
	switch {
	case tagged && n.Tag == "!yaql" && r.expressions:
		r.expression(n, t)
	case tagged && (n.Tag == "!!str" || n.Tag == "!!timestamp"), !tagged && n.Style&quoted != 0:
		t.Value = n.Value
	case !tagged:
		t.Value, ok = plain(n.Value)
		if r.json {
			t.Value, _ = yaql.FromJSON([]byte(n.Value)) // always valid
		}
		switch {
		case ok || r.json:
		case r.expressions && !times.MatchString(n.Value) && muranopl.IsExpression(n.Value):
			r.expression(n, t)
		default:
			t.Value, t.Plain = n.Value, true
		}
		return
	case n.Tag == "!!null" || n.Tag == "!!bool" || n.Tag == "!!int" || n.Tag == "!!float":
		t.Value, ok = plain(n.Value)
		if i, isInt := t.Value.(int64); isInt && n.Tag == "!!float" {
			t.Value = float64(i)
		}
	default:
		r.fail(t, "unsupported tag %s", n.Tag)
	}
	if !ok {
		r.fail(t, "invalid value of tag %s", n.Tag)
	}
}

var (
	nulls    = regexp.MustCompile(`^(~|null|Null|NULL)?$`)
	integers = regexp.MustCompile(`^[-+]?(0b[01_]+|0x[\da-fA-F_]+|0[0-7_]*|[1-9][\d_]*)$`)
	floats   = regexp.MustCompile(`^([-+]?\d[\d_]*\.[\d_]*([eE][-+]\d+)?|\.\d[\d_]*([eE][-+]\d+)?)$`)
	times    = regexp.MustCompile(`^([-+]?[1-9][\d_]*(:[0-5]?\d)+|\d{4}-\d\d?-\d\d?([Tt \t].*)?)$`)
)

// words maps plain scalars that are not strings to their values.
var words = map[string]any{
	".inf": math.Inf(1), ".Inf": math.Inf(1), ".INF": math.Inf(1), "+.inf": math.Inf(1), "-.inf": math.Inf(-1), ".nan": math.NaN(),
}

func init() {
	for value, all := range map[bool]string{true: "true True TRUE yes Yes YES on On ON", false: "false False FALSE no No NO off Off OFF"} {
		for word := range strings.FieldsSeq(all) {
			words[word] = value
		}
	}
}

// plain returns the value of a plain scalar. It returns false if the scalar is a string.
func plain(s string) (any, bool) {
	switch {
	case words[s] != nil || nulls.MatchString(s):
		return words[s], true
	case floats.MatchString(s):
		f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
		return f, err == nil
	case len(s) <= maxDigits && integers.MatchString(s):
		n, ok := new(big.Int).SetString(strings.ReplaceAll(s, "_", ""), 0)
		if ok {
			return yaql.Integer(n), true
		}
	}
	return nil, false
}

const maxDigits = 4300 // same limit as int() in contracts

// properties matches the tag and the anchor of a node.
var properties = regexp.MustCompile(`^([!&]\S*\s+)*`)

// expression sets the value of t to an expression and the position of t to its first character. The text of a
// multi-line expression is copied verbatim from the file, so that positions within it are correct.
func (r *reader) expression(n *yaml.Node, t *muranopl.Node) {
	t.Value = muranopl.Expression(n.Value)
	rest := r.src[r.lines[min(n.Line, len(r.lines))-1]:]
	for range n.Column - 1 {
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	rest = rest[properties.FindStringIndex(rest)[1]:]
	switch {
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 && rest != "":
		rest = rest[1:]
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		_, rest, _ = strings.Cut(rest, "\n")
	}
	rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
	at := len(r.src) - len(rest)
	line, exact := slices.BinarySearch(r.lines, at)
	if exact {
		line++
	}
	t.Pos.Line, t.Pos.Column = line, utf8.RuneCountInString(r.src[r.lines[line-1]:at])+1
	text := written(n.Value, rest)
	outside := func(quote string) bool { return strings.Count(text[:strings.LastIndexByte(text, '\n')], quote)%2 == 0 }
	if strings.Contains(text, "\n") && !strings.Contains(text, `\`) && outside(`"`) && outside("'") && outside("`") {
		t.Value = muranopl.Expression(text) // no string in it contains a line break
	}
}

// written returns the prefix of src that is equal to value apart from white space, or "" if there is none.
func written(value, src string) string {
	rest := src
	for _, r := range value {
		if unicode.IsSpace(r) {
			continue
		}
		var ok bool
		if rest, ok = strings.CutPrefix(strings.TrimLeftFunc(rest, unicode.IsSpace), string(r)); !ok {
			return ""
		}
	}
	return src[:len(src)-len(rest)]
}
