package secret

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"
)

// Environment variables read by a [Wrapper].
const (
	IdentityVariable   = "LUMI_AGE_IDENTITY" // an age identity or the path of an identity file
	PassphraseVariable = "LUMI_PASSPHRASE"   // if unset, Wrapper.Ask is called
	// NewPassphraseVariable is used instead of PassphraseVariable for new passphrases if Wrapper.Changes is set.
	NewPassphraseVariable = "LUMI_NEW_PASSPHRASE"
)

// Wrapper wraps and unwraps keys.
type Wrapper struct {
	// Ask prompts for a passphrase, or for a new passphrase twice. It is nil if there is no terminal.
	Ask func(isNew bool) (string, error)
	// Dir is the working directory of the command. The default is the current directory.
	Dir string
	// Changes is set to read new passphrases from NewPassphraseVariable.
	Changes bool
	// WorkFactor is the base-2 logarithm of the scrypt cost for new passphrases. The default is 18.
	WorkFactor int

	kind       string // age, passphrase, or exec
	recipients []age.Recipient
	command    []string
}

// ParseWrapper parses "age:RECIPIENT[,RECIPIENT…]", "passphrase", or "exec:COMMAND", in which spaces separate
// arguments. Errors do not quote text, which may contain a secret by mistake.
func ParseWrapper(text string) (*Wrapper, error) {
	kind, rest, _ := strings.Cut(text, ":")
	w := &Wrapper{kind: kind}
	switch {
	case kind == "age":
		lines := strings.NewReplacer(",", "\n", " ", "").Replace(rest)
		var err error
		if w.recipients, err = age.ParseRecipients(strings.NewReader(lines)); err != nil {
			return nil, errors.New(`malformed age recipients: expected a comma-separated list of recipients that start with "age1"`)
		}
	case kind == "exec" && strings.TrimSpace(rest) != "":
		w.command = strings.Fields(rest)
	case text != "passphrase":
		return nil, fmt.Errorf("malformed key configuration: must be age:RECIPIENT[,RECIPIENT…], exec:COMMAND, or passphrase (read from %s)",
			PassphraseVariable)
	}
	return w, nil
}

// For returns a Wrapper that can unwrap the given key, which may have been wrapped with another method than w's. If the
// key was wrapped with a command and w has none, For returns a *[KeyError].
func (w *Wrapper) For(wrapped string) (*Wrapper, error) {
	kind, _, err := kindOf(wrapped)
	if err != nil {
		return nil, err
	}
	if kind == "exec" && w.kind != kind {
		return nil, needKey("the key is wrapped with a command: use --old-key=exec:COMMAND")
	}
	former := *w
	former.kind = kind
	return &former, nil
}

func kindOf(wrapped string) (kind, id string, err error) {
	header, _, _ := strings.Cut(wrapped, "\n")
	if _, err := fmt.Sscanf(header, "lumi-key 1 %s %s", &kind, &id); err != nil {
		return "", "", errors.New("the wrapped key is damaged, or from a newer version of lumi")
	}
	return kind, id, nil
}

// Verify returns a *[KeyError] if wrapped is the wrapped form of a different key. It returns nil if k is nil or wrapped
// was not written by a Wrapper.
func (k *Key) Verify(wrapped string) error {
	if _, id, err := kindOf(wrapped); k != nil && err == nil && id != fmt.Sprintf("%x", k.id) {
		return needKey("the environment's key has changed: try again")
	}
	return nil
}

// Wrap wraps a key. To change who can unwrap a key, wrap it again with another Wrapper. If the Wrapper uses a command,
// Wrap runs it until it exits or ctx is done, and checks that it can unwrap its own output.
func (w *Wrapper) Wrap(ctx context.Context, k *Key) (string, error) {
	body, err := w.encrypt(ctx, k.text())
	if err != nil {
		return "", err
	}
	wrapped := fmt.Sprintf("lumi-key 1 %s %x\n%s\n", w.kind, k.id, strings.TrimSpace(body))
	if w.kind == "exec" {
		if _, err := w.Unwrap(ctx, wrapped); err != nil {
			return "", err
		}
	}
	return wrapped, nil
}

// Unwrap returns the wrapped key. The error is a *[KeyError] unless wrapped is damaged or ctx is done.
func (w *Wrapper) Unwrap(ctx context.Context, wrapped string) (*Key, error) {
	kind, id, err := kindOf(wrapped)
	if err != nil {
		return nil, err
	}
	_, body, _ := strings.Cut(wrapped, "\n")
	if kind != w.kind {
		return nil, needKey("the key is wrapped with %q, but %q is configured", kind, w.kind)
	}
	text, err := w.decrypt(ctx, body)
	if err != nil {
		return nil, err
	}
	if k := keyOf(text); k != nil && fmt.Sprintf("%x", k.id) == id {
		return k, nil
	}
	return nil, needKey("%q unwrapped something other than the key", kind)
}

func (w *Wrapper) encrypt(ctx context.Context, text string) (string, error) {
	recipients := w.recipients
	switch w.kind {
	case "exec":
		return w.run(ctx, "wrap", text)
	case "passphrase":
		passphrase, err := w.passphrase(true)
		if err != nil {
			return "", err
		}
		recipient, _ := age.NewScryptRecipient(passphrase) // fails only if the passphrase is empty
		recipient.SetWorkFactor(cmp.Or(w.WorkFactor, defaultWorkFactor))
		recipients = []age.Recipient{recipient}
	}
	var body bytes.Buffer
	lines := armor.NewWriter(&body)
	out, err := age.Encrypt(lines, recipients...)
	if err != nil {
		return "", fmt.Errorf("cannot wrap the key: %w", err)
	}
	_, _ = io.WriteString(out, text) // Writing to a buffer cannot fail.
	_, _ = out.Close(), lines.Close()
	return body.String(), nil
}

func (w *Wrapper) decrypt(ctx context.Context, body string) (string, error) {
	if w.kind == "exec" {
		return w.run(ctx, "unwrap", strings.TrimSpace(body))
	}
	identities, err := w.identities()
	if err != nil {
		return "", err
	}
	text, err := openAge(armor.NewReader(strings.NewReader(body)), maxOutput, identities,
		"this identity or passphrase cannot unwrap the key: use another one", errors.New("the wrapped key is damaged: age cannot read it"))
	return string(text), err
}

// openAge decrypts an age file and returns at most limit bytes. It returns a *[KeyError] with the message mismatch if identities cannot decrypt it, and
// damaged for all other errors.
func openAge(file io.Reader, limit int64, identities []age.Identity, mismatch string, damaged error) (text []byte, err error) {
	in, err := age.Decrypt(file, identities...)
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(in, limit))
	}
	if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
		return nil, needKey("%s", mismatch)
	} else if err != nil {
		return nil, damaged
	}
	return text, nil
}

func (w *Wrapper) identities() ([]age.Identity, error) {
	if w.kind == "passphrase" {
		passphrase, err := w.passphrase(false)
		if err != nil {
			return nil, err
		}
		identity, _ := age.NewScryptIdentity(passphrase) // fails only if the passphrase is empty
		return []age.Identity{identity}, nil
	}
	return ageIdentities("the key")
}

// ageIdentities returns the identities in IdentityVariable. what needs them, in messages.
func ageIdentities(what string) ([]age.Identity, error) {
	text := os.Getenv(IdentityVariable)
	if !strings.HasPrefix(text, "AGE-SECRET-KEY-") {
		data, err := os.ReadFile(text)
		if err != nil { // Do not quote text, which may be part of an identity.
			return nil, needKey("%s needs an age identity: set %s to an identity or the path of an identity file (%w)",
				what, IdentityVariable, errors.Unwrap(err))
		}
		text = string(data)
	}
	identities, err := age.ParseIdentities(strings.NewReader(text))
	if err != nil { // Drop err, which may quote the identity.
		return nil, needKey(`malformed identities in %s: expected lines that start with "AGE-SECRET-KEY-"`, IdentityVariable)
	}
	return identities, nil
}

// defaultWorkFactor makes each guess take about a second. Tests use a lower value.
var defaultWorkFactor = 18

// passphrase returns the passphrase from the environment or the prompt. It returns an error if the passphrase is empty.
func (w *Wrapper) passphrase(isNew bool) (string, error) {
	variable := PassphraseVariable
	if isNew && w.Changes {
		variable = NewPassphraseVariable
	}
	passphrase, err := os.Getenv(variable), error(nil)
	if passphrase == "" && w.Ask != nil {
		passphrase, err = w.Ask(isNew)
	}
	if err != nil {
		return "", needKey("the key needs a passphrase: %w", err)
	}
	if passphrase == "" && isNew {
		return "", needKey("secrets are encrypted with a passphrase: choose one and set %s", variable)
	} else if passphrase == "" {
		return "", needKey("the key needs a passphrase: set %s", variable)
	}
	return passphrase, nil
}

// StateVariable is the variable that overrides the location of the state, and may contain a password.
const StateVariable = "LUMI_STATE"

// Environ returns the environment variables for programs and plugins. It omits the variables read by a [Wrapper], and
// [StateVariable].
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.ContainsFunc([]string{PassphraseVariable, NewPassphraseVariable, IdentityVariable, StateVariable}, func(secret string) bool {
			return strings.EqualFold(name, secret)
		})
	})
}
