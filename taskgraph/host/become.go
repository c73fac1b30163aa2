package host

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"sync"
)

// become is a transport that runs commands as root with sudo.
type become struct {
	transport
	node, password string

	mu      sync.Mutex
	checked bool
}

// sudo returns the script that runs a command with sudo. Its password is the first line of standard input.
func (b *become) sudo(command string) string {
	if b.password == "" {
		return "LC_ALL=C exec sudo -n -H -- " + command
	}
	return "LC_ALL=C exec sudo -k -S -p '' -H -- " + command
}

// connect also checks the password. sudo asks up to three times, so its input ends after the first line.
func (b *become) connect(ctx context.Context) error {
	if err := b.transport.connect(ctx); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.checked {
		return nil
	}
	var out last
	exit, err := b.transport.exec(ctx, false, []string{"-c", b.sudo("true")}, strings.NewReader(b.password+"\n"), &out, &out)
	if err != nil {
		return err
	}
	text := out.String()
	switch {
	case exit == 0:
		b.checked = true
		return nil
	case strings.Contains(text, "incorrect password attempt"):
		return fmt.Errorf("node %s: wrong password for sudo", b.node)
	case strings.Contains(text, "a password is required"):
		return fmt.Errorf("node %s: sudo requires a password: set become_secret in the inventory", b.node)
	}
	return fmt.Errorf("node %s: sudo failed: exit status %d (%s)", b.node, exit, text[strings.LastIndexByte(text, '\n')+1:])
}

// exec runs sh as root in root's home directory. Depending on its configuration, sudo may leave the password on standard
// input, so everything up to a mark is discarded. The shell reads it byte by byte.
func (b *become) exec(ctx context.Context, urgent bool, args []string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	mark := rand.Text()
	begin := `until [ "$line" = ` + mark + ` ]; do IFS= read -r line || exit; done; cd && exec sh "$@"`
	args = append([]string{"-c", b.sudo(`sh -c "$0" sh "$@"`), "line=; " + begin}, args...)
	return b.transport.exec(ctx, urgent, args, io.MultiReader(strings.NewReader(b.password+"\n"+mark+"\n"), stdin), stdout, stderr)
}
