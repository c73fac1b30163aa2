package host

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"
)

const dialTimeout = 15 * time.Second

// dial connects to a hop through its jump hosts.
func (r *remote) dial(ctx context.Context, h *hop) (*ssh.Client, error) {
	check, algorithms, err := h.hostKeys()
	if err != nil {
		return nil, err
	}
	k := &keys{}
	defer k.close()
	if err := r.gather(ctx, h, k); err != nil {
		return nil, err
	}
	conn, err := r.reach(ctx, h)
	if err != nil {
		return nil, err
	}
	// The SSH handshake does not accept a context.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	var distrust error
	c, channels, requests, err := ssh.NewClientConn(conn, h.address(), &ssh.ClientConfig{
		User: h.user, Auth: []ssh.AuthMethod{ssh.PublicKeys(k.signers...)}, HostKeyAlgorithms: algorithms,
		HostKeyCallback: func(address string, at net.Addr, key ssh.PublicKey) error {
			distrust = check(address, at, key)
			return distrust
		},
	})
	switch {
	case err == nil:
		return ssh.NewClient(c, channels, requests), nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case distrust != nil:
		return nil, distrust
	case strings.Contains(err.Error(), "unable to authenticate"):
		return nil, k.refused()
	}
	return nil, err
}

// reach returns a connection to a hop before the SSH handshake.
func (r *remote) reach(ctx context.Context, h *hop) (net.Conn, error) {
	if h.via == nil {
		return new(net.Dialer).DialContext(ctx, "tcp", h.address())
	}
	via, err := r.dial(ctx, h.via)
	if err != nil {
		return nil, fmt.Errorf("jump host %s: %w", h.via, err)
	}
	conn, err := via.DialContext(ctx, "tcp", h.address())
	if err != nil {
		_ = via.Close()
		return nil, fmt.Errorf("jump host %s cannot connect to it: %w", h.via, err)
	}
	return &tunnel{conn, via}, nil
}

// tunnel is a connection through a jump host, which it owns.
type tunnel struct {
	net.Conn
	via *ssh.Client
}

func (t *tunnel) Close() error {
	_ = t.Conn.Close()
	return t.via.Close()
}

// hostKeys returns the host key callback for the hop and the algorithms of its known keys.
func (h *hop) hostKeys() (ssh.HostKeyCallback, []string, error) {
	files := slices.DeleteFunc(append(slices.Clone(h.known), "/etc/ssh/ssh_known_hosts"), func(file string) bool {
		_, err := os.Stat(file)
		return errors.Is(err, fs.ErrNotExist)
	})
	known, err := knownhosts.New(files...)
	if err != nil {
		return nil, nil, err
	}
	host, port := knownhosts.Normalize(h.address()), strconv.Itoa(h.port)
	check := func(address string, at net.Addr, key ssh.PublicKey) error {
		err := known(address, at, key)
		var wrong *knownhosts.KeyError
		var revoked *knownhosts.RevokedError
		switch {
		case errors.As(err, &revoked):
			return fmt.Errorf("host key is revoked in %s:%d", revoked.Revoked.Filename, revoked.Revoked.Line)
		case !errors.As(err, &wrong):
			return err
		}
		got := key.Type() + " " + ssh.FingerprintSHA256(key)
		if len(wrong.Want) == 0 {
			return fmt.Errorf("%w: got %s; if this fingerprint is correct, run: ssh-keyscan -p %s %s >>%s", ErrUnknownHost, got, port,
				h.host, h.known[0])
		}
		want := wrong.Want[0]
		return fmt.Errorf("%w: got %s, but %s:%d has %s; if the node was reinstalled, run: ssh-keygen -f %s -R '%s'", ErrHostKeyChanged,
			got, want.Filename, want.Line, ssh.FingerprintSHA256(want.Key), want.Filename, host)
	}
	// A server presents a key of only one type. Request a known type, since the host key would otherwise appear to have
	// changed. Checking a key that no server has returns an error that lists all known keys.
	unknown, err := ssh.NewPublicKey(ed25519.PublicKey(make([]byte, ed25519.PublicKeySize)))
	if err != nil {
		return nil, nil, err
	}
	var algorithms []string
	var wrong *knownhosts.KeyError
	if errors.As(known(h.address(), &net.TCPAddr{}, unknown), &wrong) {
		for _, key := range wrong.Want {
			if key.Key.Type() == ssh.KeyAlgoRSA {
				algorithms = append(algorithms, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
			} else {
				algorithms = append(algorithms, key.Key.Type())
			}
		}
	}
	return check, algorithms, nil
}

// keys contains the candidate keys of the user.
type keys struct {
	signers []ssh.Signer
	// tried lists the sources of the keys. locked lists the files that require a passphrase.
	tried, locked []string
	agent         net.Conn
}

func (k *keys) close() {
	if k.agent != nil {
		_ = k.agent.Close()
	}
}

func (k *keys) has(key ssh.PublicKey) bool {
	return slices.ContainsFunc(k.signers, func(s ssh.Signer) bool { return bytes.Equal(s.PublicKey().Marshal(), key.Marshal()) })
}

// gather adds the key of the inventory, the keys of the agent, and the keys in the user's files.
func (r *remote) gather(ctx context.Context, h *hop, k *keys) error {
	for _, name := range h.keys {
		if err := k.addFile(name); err != nil {
			return err
		}
	}
	if r.agent != "" {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", r.agent)
		if err != nil {
			k.tried = append(k.tried, "the agent (unreachable)")
		} else {
			k.agent = conn
			_ = conn.SetDeadline(time.Now().Add(dialTimeout))
			signers, err := agent.NewClient(conn).Signers()
			if err != nil {
				return fmt.Errorf("cannot list the keys of the SSH agent: %w", err)
			}
			k.tried = append(k.tried, fmt.Sprintf("the agent (%d)", len(signers)))
			k.signers = append(k.signers, signers...)
		}
	}
	for _, name := range h.optional {
		if err := k.addFile(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (k *keys) addFile(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("cannot read the key: %w", err)
	}
	signer, err := ssh.ParsePrivateKey(text)
	var locked *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &locked):
		k.locked = append(k.locked, name)
	case err != nil:
		return fmt.Errorf("%s is not a valid SSH private key", name)
	case !k.has(signer.PublicKey()):
		k.tried = append(k.tried, name)
		k.signers = append(k.signers, signer)
	}
	return nil
}

func (k *keys) refused() error {
	message := "no key was accepted"
	if len(k.tried) > 0 {
		message += "; tried " + strings.Join(k.tried, ", ")
	}
	for _, name := range k.locked {
		message += fmt.Sprintf("; %s is encrypted, so add it to an SSH agent: ssh-add %s", name, name)
	}
	return errors.New(message)
}
