package content

import (
	"errors"
	"strings"
	"unicode/utf8"
)

const (
	// maxName is the maximum length of a path on Linux.
	maxName = 4096
	// maxNames limits the memory for an archive's names, in bytes, since an archive file of a few megabytes can contain
	// an enormous number of files.
	maxNames = 256 << 20
	// nameCost is the approximate memory overhead of a name, in bytes.
	nameCost = 64
)

// cleanName returns the normalized name of a file in an archive: elements joined by slashes, none of them empty, ".", or
// "..". It returns an error if the name is invalid.
func cleanName(name string) (string, error) {
	if why := nameProblem(name); why != "" {
		return "", entryFailed(name, "is not a valid name in an archive: "+why, nil)
	}
	parts := strings.Split(name, "/")
	kept := parts[:0]
	for _, part := range parts {
		if part != "." {
			kept = append(kept, part)
		}
	}
	if len(kept) == 0 {
		return "", entryFailed(name, "is not a valid name in an archive: it is the archive itself", nil)
	}
	return strings.Join(kept, "/"), nil
}

// nameProblem returns the reason a name is not valid in an archive, or "" if it is. The TypeScript runtime has the same
// messages.
func nameProblem(name string) string {
	switch {
	case name == "":
		return "it is empty"
	case len(name) > maxName:
		return "it is longer than 4096 bytes"
	case !utf8.ValidString(name):
		return "it is not valid UTF-8"
	case strings.ContainsRune(name, 0):
		return "it contains a NUL character"
	case strings.ContainsRune(name, '\\'):
		return "it contains a backslash"
	case name[0] == '/':
		return "it is absolute"
	case len(name) > 1 && name[1] == ':' && (name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z'):
		return "it starts with a drive letter"
	}
	for part := range strings.SplitSeq(name, "/") {
		switch part {
		case "":
			return "it contains an empty element"
		case "..":
			return `it contains ".."`
		}
	}
	return ""
}

// names records the names of the files and folders in an archive.
type names struct {
	isFile map[string]bool // by name; false for a folder
	spent  int             // bytes of memory
}

var errTooMany = errors.New("the archive contains too many files")

// addFile records a file and its parents, given the file's normalized name. It returns an error if the name is taken.
func (n *names) addFile(name string) error {
	isFile, taken := n.isFile[name]
	switch {
	case taken && isFile:
		return entryFailed(name, "appears twice in the archive", nil)
	case taken:
		return errBoth(name)
	}
	if err := n.add(name, true); err != nil {
		return err
	}
	return n.addFolder(parent(name))
}

// addFolder records a folder and its parents. It returns an error if one of them is a file. It is idempotent.
func (n *names) addFolder(name string) error {
	for ; name != ""; name = parent(name) {
		isFile, taken := n.isFile[name]
		switch {
		case taken && isFile:
			return errBoth(name)
		case taken:
			return nil
		}
		if err := n.add(name, false); err != nil {
			return err
		}
	}
	return nil
}

func errBoth(name string) error {
	return entryFailed(name, "is both a file and a folder in the archive", nil)
}

func (n *names) add(name string, isFile bool) error {
	if n.spent += len(name) + nameCost; n.spent > maxNames {
		return errTooMany
	}
	if n.isFile == nil {
		n.isFile = make(map[string]bool)
	}
	n.isFile[name] = isFile
	return nil
}

// parent returns the parent folder of a file or folder, or "" at the top level.
func parent(name string) string {
	return name[:max(strings.LastIndexByte(name, '/'), 0)]
}
