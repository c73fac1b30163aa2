package server

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// Role is the role of a token. Each role includes the permissions of the previous ones.
type Role string

// Roles of tokens. Changing a graph requires the same role as running one, since stored graphs can be run.
const (
	Read   Role = "read"   // see graphs, selections, and runs
	Plan   Role = "plan"   // also see what a run would do
	Deploy Role = "deploy" // also change graphs, releases, and selections, and start, stop, and resume runs
)

var roles = []Role{Read, Plan, Deploy}

// allows reports whether r includes the permissions of other.
func (r Role) allows(other Role) bool { return slices.Index(roles, r) >= slices.Index(roles, other) }

// ParseRole parses the name of a role. It returns an error for an unknown name.
func ParseRole(name string) (Role, error) {
	if !slices.Contains(roles, Role(name)) {
		return "", fmt.Errorf("unknown role %q; expected read, plan, or deploy", name)
	}
	return Role(name), nil
}

// hash returns the hash of a token in the form used in tokens files.
func hash(token string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(token))) }

var validHash = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// NewToken returns a new random token and the line that adds it to a tokens file. The line does not reveal the token.
func NewToken(r Role) (token, line string) {
	token = "lumi_" + rand.Text()
	return token, string(r) + " " + hash(token)
}

// Tokens is the set of tokens accepted by a server. It is safe for concurrent use.
type Tokens struct {
	file string
	all  []entry // the tokens if there is no file
}

type entry struct {
	role Role
	hash string
	// name identifies the token in the log.
	name string
}

// ReadTokens reads a tokens file. The file is read again for each request; while it is invalid, no token is accepted.
// Each line consists of a role, the hash of a token, and an optional name for the log. Blank lines and lines that start
// with # are ignored.
func ReadTokens(file string) (*Tokens, error) {
	t := &Tokens{file: file}
	_, err := t.read()
	return t, err
}

// SessionTokens returns a new token with the role [Deploy], and a Tokens that accepts only this token.
func SessionTokens() (t *Tokens, token string) {
	token, _ = NewToken(Deploy)
	return &Tokens{all: []entry{{Deploy, hash(token), "session"}}}, token
}

// find returns the role and name of a token. The role is empty if the token is not accepted. If the tokens file is
// invalid, find returns an error that contains no secrets.
func (t *Tokens) find(token string) (found entry, err error) {
	all, err := t.read()
	hashed := []byte(hash(token))
	for _, e := range all {
		if subtle.ConstantTimeCompare(hashed, []byte(e.hash)) == 1 {
			found = e
		}
	}
	return found, err
}

// read returns the current list of tokens, rereading the file if it has changed.
func (t *Tokens) read() ([]entry, error) {
	if t.file == "" {
		return t.all, nil
	}
	info, err := os.Stat(t.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: no such file; 'lumi serve --new-token=ROLE' prints lines for it", t.file)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // a pipe cannot be read twice
		return nil, fmt.Errorf("%s is not a regular file", t.file)
	case info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows":
		return nil, fmt.Errorf("%s is accessible to other users; run: chmod 600 %[1]s", t.file)
	}
	text, err := os.ReadFile(t.file)
	if err != nil {
		return nil, err
	}
	return parseTokens(string(text), t.file)
}

// parseTokens parses the text of a tokens file. If any line is invalid, it returns an error and no tokens.
func parseTokens(text, file string) (all []entry, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		role, failed := ParseRole(fields[0])
		if failed == nil && (len(fields) < 2 || !validHash.MatchString(fields[1])) {
			failed = errors.New("missing token hash after the role; 'lumi serve --new-token=ROLE' prints both")
		}
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%s:%d: %w", file, n, failed))
			continue
		}
		all = append(all, entry{role, fields[1], cmp.Or(strings.Join(fields[2:], " "), string(role))})
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}
