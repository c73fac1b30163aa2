package secret

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/runtime/wire"
)

// maxOutput is the maximum size of a command's output in bytes.
const maxOutput = 64 << 10

// run runs the command with verb as its last argument and returns its standard output.
func (w *Wrapper) run(ctx context.Context, verb, input string) (string, error) {
	cmd := exec.CommandContext(ctx, w.command[0], slices.Concat(w.command[1:], []string{verb})...)
	var stdout, stderr limited
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input+"\n"), &stdout, &stderr
	cmd.Dir, cmd.WaitDelay = w.Dir, time.Second // child processes may keep the output open
	err := cmd.Run()
	output, key := strings.TrimSpace(string(stdout)), input
	if verb == "unwrap" {
		key = output
	}
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%q was stopped: %w", w.command[0]+" "+verb, context.Cause(ctx))
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		err = fmt.Errorf("failed: %w", err)
	case output == "" || len(stdout) > maxOutput || !utf8.ValidString(output):
		err = fmt.Errorf("must write text to standard output, such as base64, at most %d KiB", maxOutput>>10)
	case verb == "wrap" && mask(output, key) != output:
		err = errors.New("wrote the key unencrypted")
	default:
		return output, nil
	}
	stderrText := strings.TrimSpace(mask(string(stderr), key))
	return "", needKey("%q %w; standard error: %.500q", w.command[0]+" "+verb, err, stderrText)
}

// mask masks all occurrences of key in text, whether in base64 (padded or not), in hexadecimal, or raw.
func mask(text, key string) string {
	data, _ := base64.StdEncoding.DecodeString(key)
	keys := wire.NewSecrets(nil)
	for _, form := range []string{key, strings.TrimRight(key, "="), hex.EncodeToString(data), string(data)} {
		keys.AddValue(form)
	}
	return wire.Mask(text, keys)
}

// limited is a writer that keeps only the first maxOutput+1 bytes.
type limited []byte

func (l *limited) Write(p []byte) (int, error) {
	*l = append(*l, p[:min(len(p), maxOutput+1-len(*l))]...)
	return len(p), nil
}
