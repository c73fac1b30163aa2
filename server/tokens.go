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

// Role is what a token allows. Each role includes those before it.
type Role string

// The roles. A graph is run as it is stored, so changing what runs needs the same role as running it.
const (
	Read   Role = "read"   // see graphs, selections and runs
	Plan   Role = "plan"   // see what a run would do
	Deploy Role = "deploy" // change graphs, releases and selections; start, stop and resume runs
)

var roles = []Role{Read, Plan, Deploy}

// allows reports whether a role includes another one.
func (r Role) allows(other Role) bool { return slices.Index(roles, r) >= slices.Index(roles, other) }

// ParseRole returns the role of a name.
func ParseRole(name string) (Role, error) {
	if !slices.Contains(roles, Role(name)) {
		return "", fmt.Errorf("unknown role %q; expected read, plan, or deploy", name)
	}
	return Role(name), nil
}

// hash returns what a file has in place of a token.
func hash(token string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(token))) }

var validHash = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// NewToken returns a random token, and the line for it in a file of tokens, which does not reveal it.
func NewToken(r Role) (token, line string) {
	token = "lumi_" + rand.Text()
	return token, string(r) + " " + hash(token)
}

// Tokens are the tokens that a server accepts. They may be used concurrently.
type Tokens struct {
	file string
	all  []entry // if there is no file
}

type entry struct {
	role Role
	hash string
	// name is for logs.
	name string
}

// ReadTokens reads a file of tokens, which is read again for each request. While it is invalid, no token is accepted. Each line has
// a role, the hash of a token and, optionally, a name for the log; blank lines and those that start with # are ignored.
func ReadTokens(file string) (*Tokens, error) {
	t := &Tokens{file: file}
	_, err := t.read()
	return t, err
}

// SessionTokens returns a token for the role deploy that no file has.
func SessionTokens() (t *Tokens, token string) {
	token, _ = NewToken(Deploy)
	return &Tokens{all: []entry{{Deploy, hash(token), "session"}}}, token
}

// find returns the role and the name of a token. The role is empty if it is not accepted. The error, which has no secrets, says
// that the file is invalid.
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

// read returns the tokens, which are few.
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
	case !info.Mode().IsRegular(): // A pipe could be read only once.
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

// parseTokens returns no tokens with an error.
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
