package host

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
)

// The arguments of these scripts are the path, the temporary file, the directory, the size, and the mode.
const (
	receive = `if [ -d "$1" ]; then echo "it is a directory" >&2; exit 1; fi
mkdir -p "$3" || exit
umask 077
set -C
cat >"$2"`
	publish = `[ "$(wc -c <"$2")" -eq "$4" ] && chmod "$5" "$2" && mv -f "$2" "$1" || { rm -f "$2"; exit 1; }`
	discard = `rm -f "$2"`
)

func (s *shell) Write(ctx context.Context, name string, mode fs.FileMode, content io.Reader) error {
	given := name
	name, home := locate(name)
	temp := fmt.Sprintf("%s.%s.tmp", name, rand.Text()[:8])
	in := &counted{Reader: content}
	do := func(ctx context.Context, script string, stdin io.Reader) error {
		n, _ := in.result()
		args := []string{"-c", home + script, "lumi", name, temp, path.Dir(name), fmt.Sprint(n), fmt.Sprintf("%o", mode.Perm())}
		return s.do(ctx, false, args, stdin, io.Discard)
	}
	err := do(ctx, receive, in)
	if _, broken := in.result(); broken != nil {
		err = broken
	}
	// Check the size, since a lost connection looks like the end of the file.
	if err == nil {
		err = do(ctx, publish, nil)
	} else if !errors.Is(err, errLost) {
		_ = do(context.WithoutCancel(ctx), discard, nil)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", given, err)
	}
	return nil
}

// counted counts the bytes read and records the read error. Reads may continue after the connection is lost.
type counted struct {
	io.Reader
	mu  sync.Mutex
	n   int64
	err error
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

func (c *counted) result() (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n, c.err
}

// locate returns a name as an argument of a script, and what the script must begin with.
func locate(name string) (argument, script string) {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return "./" + rest, "cd || exit\n"
	}
	if !path.IsAbs(name) { // a name that starts with a hyphen must not be mistaken for an option
		name = "./" + name
	}
	return name, ""
}

func (s *shell) Read(ctx context.Context, name string) ([]byte, error) {
	var content bytes.Buffer
	at, home := locate(name)
	err := s.do(ctx, false, []string{"-c", home + `exec cat <"$1"`, "lumi", at}, nil, &content)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	return content.Bytes(), nil
}
