package host

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// remote is a transport over SSH.
type remote struct {
	name      string
	target    *hop
	agent     string
	keepalive time.Duration
	// sessions and urgent have ten slots in total, sshd's default limit on sessions per connection.
	sessions, urgent chan struct{}
	// connecting is held while connecting. client is nil while there is no connection.
	connecting chan struct{}
	mu         sync.Mutex
	client     *ssh.Client
	closed     bool
}

func (r *remote) connect(ctx context.Context) error {
	_, err := r.connected(ctx)
	return err
}

func (r *remote) connected(ctx context.Context) (*ssh.Client, error) {
	if err := acquire(ctx, r.connecting); err != nil {
		return nil, err
	}
	defer func() { <-r.connecting }()
	r.mu.Lock()
	client, closed := r.client, r.closed
	r.mu.Unlock()
	switch {
	case closed:
		return nil, fmt.Errorf("node %s: connection closed", r.name)
	case client != nil:
		return client, nil
	}
	dialing, end := context.WithTimeout(ctx, dialTimeout)
	defer end()
	client, err := r.dial(dialing, r.target)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to node %s as %s: %w", r.name, r.target, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		_ = client.Close()
	}
	r.client = client
	gone := make(chan struct{})
	go func() {
		_ = client.Wait()
		close(gone)
		r.forget(client)
	}()
	go r.watch(client, gone)
	return client, nil
}

// watch closes a connection if the server no longer responds.
func (r *remote) watch(client *ssh.Client, gone <-chan struct{}) {
	for {
		select {
		case <-gone:
			return
		case <-time.After(r.keepalive):
		}
		silent := time.AfterFunc(r.keepalive, func() { _ = client.Close() })
		_, _, err := client.SendRequest("keepalive@openssh.com", true, nil)
		silent.Stop()
		if err != nil {
			return
		}
	}
}

func (r *remote) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.client == nil {
		return nil
	}
	if err := r.client.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

func (r *remote) exec(ctx context.Context, urgent bool, args []string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	places := r.sessions
	if urgent {
		places = r.urgent
	}
	if err := acquire(ctx, places); err != nil {
		return 0, err
	}
	defer func() { <-places }()
	session, err := r.session(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = session.Close() }()
	mark := rand.Text()
	command := "echo " + mark + "; exec sh"
	for _, arg := range args {
		command += " " + quote(arg)
	}
	session.Stdin, session.Stdout, session.Stderr = stdin, &after{w: stdout, mark: []byte(mark + "\n")}, stderr
	if err := session.Start(command); err != nil {
		return 0, r.lost(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		_ = session.Signal(ssh.SIGTERM)
		return 0, ctx.Err()
	}
	var status *ssh.ExitError
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &status) && status.Signal() == "":
		return status.ExitStatus(), nil
	}
	return 0, r.lost(err)
}

// after discards everything up to and including a mark, such as the output of the login shell's startup files.
type after struct {
	w     io.Writer
	mark  []byte
	seen  []byte
	found bool
}

func (a *after) Write(b []byte) (int, error) {
	if a.found {
		return a.w.Write(b)
	}
	a.seen = append(a.seen, b...)
	_, rest, found := bytes.Cut(a.seen, a.mark)
	if !found {
		a.seen = a.seen[max(0, len(a.seen)-len(a.mark)):]
		return len(b), nil
	}
	a.found, a.seen = true, nil
	_, err := a.w.Write(rest)
	return len(b), err
}

func (r *remote) session(ctx context.Context) (*ssh.Session, error) {
	for alone := 0; ; {
		client, err := r.connected(ctx)
		if err != nil {
			return nil, err
		}
		session, err := client.NewSession()
		var refused *ssh.OpenChannelError
		switch {
		case errors.As(err, &refused) && alone < 20:
			// Servers count a session for a while after it has ended, and some have a lower limit.
			if len(r.sessions)+len(r.urgent) == 1 {
				alone++
			}
			sleep(ctx, 50*time.Millisecond)
			continue
		case refused != nil:
			return nil, fmt.Errorf("node %s refused a session: %s (see MaxSessions in its sshd_config)", r.name, refused.Message)
		case err == nil:
			return session, nil
		}
		// The connection was lost while it was idle.
		r.forget(client)
	}
}

func (r *remote) forget(client *ssh.Client) {
	_ = client.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.client == client {
		r.client = nil
	}
}

func (r *remote) lost(err error) error {
	return fmt.Errorf("node %s: %w: %s", r.name, errLost, strings.TrimPrefix(err.Error(), "ssh: "))
}

func acquire(ctx context.Context, places chan struct{}) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
