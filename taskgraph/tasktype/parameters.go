package tasktype

import (
	"io/fs"
	"strconv"
	"strings"
)

// str returns a string parameter, or "" if it is not set.
func str(p map[string]any, name string) string {
	s, _ := p[name].(string)
	return s
}

// permissions returns a file mode parameter, or absent if it is not set.
func permissions(p map[string]any, name string, absent fs.FileMode) fs.FileMode {
	n, err := strconv.ParseUint(str(p, name), 8, 32)
	if err != nil {
		return absent
	}
	return fs.FileMode(n)
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
