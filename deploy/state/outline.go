package state

import (
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/lumigl"
)

// Outline returns the resource graph of an environment with what is pending, but without the other resources: the versions of
// modules have only their number. It reads no rows of resources, so that its cost hardly depends on their number.
func (c Codec) Outline(tx store.Tx, e store.Environment) (*graph.Graph, error) {
	var rows []store.Vertex
	from := func(key string) (row store.Vertex, err error) {
		found, err := tx.VerticesFrom(e.Name, key, 1)
		if err == nil && len(found) > 0 {
			row = found[0]
		}
		return row, err
	}
	for next := ""; ; {
		row, err := from(next)
		if err != nil {
			return nil, err
		}
		if row.Key == "" {
			break
		}
		// The keys are "root", "module::1" of a version, and "module:type::name:1" of a resource. ";" is the byte after ":".
		module, rest, ofModule := strings.Cut(row.Key, ":")
		switch {
		case !ofModule || strings.HasPrefix(rest, ":"):
			row.Text = withoutResources(row.Text)
			rows = append(rows, row)
			next = row.Key + "\x00"
		case row.Key < module+"::":
			next = module + "::"
		default:
			next = module + ";"
		}
	}
	pending, err := pendingKeys(rows)
	if err != nil {
		return nil, err
	}
	for _, key := range pending {
		row, err := from(key)
		if err != nil {
			return nil, err
		}
		if row.Key == key {
			rows = append(rows, row)
		}
	}
	return c.Graph(e, rows)
}

// pendingKeys returns the keys of the resources that are pending.
func pendingKeys(rows []store.Vertex) (keys []string, err error) {
	for _, row := range rows {
		if row.Key != "root" {
			continue
		}
		root, err := parser.ParseValue(row.Text)
		if err != nil {
			return nil, err
		}
		for _, p := range root.Get("pending").Elements() {
			keys = append(keys, textOf(p.Get("resource"), lumigl.DefaultTag))
		}
	}
	return keys, nil
}

// withoutResources returns the text of a version with the number of its resources in place of the list, which is most of the
// text. It scans the text, since parsing it takes many times as long.
func withoutResources(text string) string {
	const member = `"resources":[`
	depth, count, start := 0, 0, -1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			if depth == 1 && start < 0 && strings.HasPrefix(text[i:], member) {
				start, depth = i, 2
				i += len(member) - 1
				continue
			}
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			if depth == 2 && start >= 0 {
				count++
			}
			depth++
		case '}', ']':
			if depth--; depth == 1 && start >= 0 {
				return text[:start] + `"count":` + strconv.Itoa(count) + text[i+1:]
			}
		}
	}
	return text
}
