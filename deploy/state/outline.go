package state

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/lumigl"
)

// Outline returns an environment's resource graph with only pending resources and resources found only in older
// versions. Versions record the number of omitted resources. Outline does not read the rows of omitted resources, so
// its cost is nearly independent of their number.
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
		// Keys are "root", "module::1" for versions, and "module:type::name:1" for resources. ";" is the byte following
		// ":".
		module, rest, ofModule := strings.Cut(row.Key, ":")
		switch {
		case !ofModule || strings.HasPrefix(rest, ":"):
			rows = append(rows, row)
			next = row.Key + "\x01" // the first key after it, since keys do not contain NUL
		case row.Key < module+"::":
			next = module + "::"
		default:
			next = module + ";"
		}
	}
	keys, newest, err := rootKeys(rows)
	if err != nil {
		return nil, err
	}
	keys = append(keys, abridge(rows, newest)...)
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
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

// rootKeys returns the keys of pending resources and newest versions from the root row.
func rootKeys(rows []store.Vertex) (pending []string, newest map[string]bool, err error) {
	newest = map[string]bool{}
	for _, row := range rows {
		if row.Key != "root" {
			continue
		}
		root, err := parser.ParseValue(row.Text)
		if err != nil {
			return nil, nil, err
		}
		for _, p := range root.Get("pending").Elements() {
			pending = append(pending, textOf(p.Get("resource"), lumigl.DefaultTag))
		}
		for _, v := range root.Get("modules").Elements() {
			newest[textOf(v, lumigl.DefaultTag)] = true
		}
	}
	return pending, newest, nil
}

// abridge replaces the resource list in each version's row with the number of resources, but keeps resources found only
// in older versions. It returns the keys of the kept resources.
func abridge(rows []store.Vertex, newest map[string]bool) (kept []string) {
	held := map[string]bool{} // encoded keys in the newest versions of modules with older ones
	older := map[string]bool{}
	module := func(key string) string { return key[:strings.IndexByte(key+":", ':')] }
	for _, row := range rows {
		older[module(row.Key)] = older[module(row.Key)] || !newest[row.Key]
	}
	for _, isNewest := range []bool{true, false} {
		for i, row := range rows {
			if newest[row.Key] != isNewest {
				continue
			}
			start, end, count := list(row.Text)
			var left []string
			if count > 0 && older[module(row.Key)] {
				for raw := range strings.SplitSeq(row.Text[start+len(listed):end-1], reference[2]) {
					raw = strings.TrimSuffix(strings.TrimPrefix(raw, reference[0]), reference[1])
					if isNewest {
						held[raw] = true
					} else if key, err := parser.ParseValue(`"` + raw + `"`); err == nil && !held[raw] {
						left = append(left, reference[0]+raw+reference[1])
						text, _ := key.Text()
						kept = append(kept, text)
					}
				}
			}
			if start < end {
				rows[i].Text = row.Text[:start] + listed + strings.Join(left, ",") + `],"count":` + strconv.Itoa(count-len(left)) + row.Text[end:]
			}
		}
	}
	return kept
}

const listed = `"resources":[`

// reference holds the text before, after, and between the keys in a list of references.
var reference = [3]string{`{"` + lumigl.DefaultTag + `":"`, `"}`, `"},{"` + lumigl.DefaultTag + `":"`}

// list returns the position of the resource list in the text of a version, and the number of resources. It scans the
// text because parsing is many times slower.
func list(text string) (start, end, count int) {
	depth := 0
	start = -1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			if depth == 1 && start < 0 && strings.HasPrefix(text[i:], listed) {
				start, depth = i, 2
				i += len(listed) - 1
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
				return start, i + 1, count
			}
		}
	}
	return 0, 0, 0
}
