package yamltree

import (
	"bytes"
	"encoding/json"
	"strconv"

	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// isJSON reports whether src is a valid JSON object or array.
func isJSON(src []byte) bool {
	text := bytes.TrimLeft(src, " \t\r\n")
	return len(text) > 0 && (text[0] == '[' || text[0] == '{') && json.Valid(src)
}

// jsonReader builds trees from valid JSON, which is not always valid YAML. Strings become double-quoted nodes.
type jsonReader struct {
	*json.Decoder
	src                  []byte
	offset, line, column int
}

func (r *jsonReader) next() *yaml.Node {
	for end := int(r.InputOffset()); r.offset < end || strings.IndexByte(" \t\r\n,:", r.src[r.offset]) >= 0; r.column++ {
		c, size := utf8.DecodeRune(r.src[r.offset:])
		if r.offset += size; c == '\n' {
			r.line, r.column = r.line+1, 0
		}
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: r.line, Column: r.column}
	token, _ := r.Token()
	switch v := token.(type) {
	case json.Delim:
		n.Kind = map[json.Delim]yaml.Kind{'[': yaml.SequenceNode, '{': yaml.MappingNode}[v]
		for r.More() {
			n.Content = append(n.Content, r.next())
		}
		_, _ = r.Token() // the closing bracket or brace
	case string:
		n.Value, n.Style = v, yaml.DoubleQuotedStyle
	case bool:
		n.Value, n.Tag = strconv.FormatBool(v), "!!bool"
	case json.Number:
		n.Value, n.Tag = v.String(), "!!int"
		if strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		}
	default:
		n.Value, n.Tag = "null", "!!null"
	}
	return n
}
