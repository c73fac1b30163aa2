package taskgraph

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/lumi-idl/lumi/internal/yamltree"
)

// Format formats a graph as YAML accepted by [Parse], with attributes in the order of [Task.Names].
func Format(g *Graph) ([]byte, error) {
	text, err := json.Marshal(g)
	if err != nil {
		return nil, err
	}
	return FormatValue(text, 3) // block style down to attributes
}

// FormatValue formats JSON text as YAML, in block style for the given number of levels.
func FormatValue(text []byte, levels int) ([]byte, error) {
	documents, errs := yamltree.Read(text)
	if len(errs) > 0 {
		return nil, errors.New(errs[0].Message)
	}
	root := documents[0].Content[0]
	style(root, levels)
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(root)
	return b.Bytes(), err
}

// yaml11 matches strings that are booleans or numbers in YAML 1.1, which many programs read.
var yaml11 = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|[-+]?[0-9]+[_:][0-9_:.]*)$`)

// style formats a JSON tree as YAML. Strings are unquoted if that does not change their meaning. Below the given number
// of levels, short flat lists and objects are on one line.
func style(n *yaml.Node, levels int) {
	isFlat, width := true, 0
	for _, item := range n.Content {
		style(item, levels-1)
		isFlat = isFlat && item.Kind == yaml.ScalarNode && item.Style != yaml.LiteralStyle
		width += len(item.Value) + 2
	}
	switch {
	case n.Kind != yaml.ScalarNode:
		if isFlat && width < 80 && (levels <= 0 || width == 0) {
			n.Style = yaml.FlowStyle
		}
	case n.Style != yaml.DoubleQuotedStyle:
		n.Tag = ""
	case jsonNumber.MatchString(n.Value): // the encoder does not quote some numbers that are out of range
	case yaml11.MatchString(n.Value):
	case strings.Contains(n.Value, "\n"):
		n.Tag, n.Style = "!!str", yaml.LiteralStyle
	default:
		n.Tag, n.Style = "!!str", 0 // the encoder quotes strings that would be read as another type
	}
}
