package providertest_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/internal/provisioning"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
)

// broken is a provisioner that stores resources as files in the working directory. mode selects its mistake.
type broken struct{ mode string }

func (b *broken) Plan(_ context.Context, c *provisioner.Change) (*provisioner.Plan, error) {
	switch b.mode {
	case "plan writes":
		return nil, os.WriteFile("planned", nil, 0o600)
	case "plan fails":
		return nil, errors.New("the tool cannot plan")
	case "task secret":
		return &provisioner.Plan{Tasks: []string{"use correct horse"}}, nil
	case "tasks":
		return &provisioner.Plan{Tasks: []string{"migrate"}}, nil
	}
	for _, r := range c.New {
		switch r.Properties["size"].(type) {
		case provisioner.Reference:
			if b.mode == "value" {
				panic("no reference expected")
			}
		case provisioner.JSON:
			switch b.mode {
			case "value exits":
				os.Exit(3)
			case "value words":
				return nil, errors.New("")
			}
			return nil, errors.New("size must be known")
		}
	}
	return nil, nil
}

// token is a token, in JSON. It contains the metadata by key.
type token struct {
	Mode     string
	Metadata map[string]provisioner.Properties
}

func (b *broken) Provision(ctx context.Context, c *provisioner.Change) (string, error) {
	made := token{Mode: b.mode, Metadata: map[string]provisioner.Properties{}}
	creating := len(c.New) > 0
	if creating {
		if err := b.before(ctx); err != nil {
			return "", err
		}
	}
	wrote := false
	for _, r := range c.New {
		size := fmt.Sprint(r.Properties["size"])
		was, _ := os.ReadFile(r.URN.Name())
		if b.mode == "repeat" {
			size += string(was)
		}
		if string(was) != size {
			wrote = true
			if err := os.WriteFile(r.URN.Name(), []byte(size), 0o600); err != nil {
				return "", err
			}
		}
		made.Metadata[r.Key] = b.metadata(r)
	}
	for _, r := range c.Old {
		kept := slices.ContainsFunc(c.New, func(n *provisioner.Resource) bool { return n.URN == r.URN })
		if !kept {
			err := os.Remove(r.URN.Name())
			if err != nil && (b.mode == "delete" || !errors.Is(err, fs.ErrNotExist)) {
				return "", errors.New("404 not found")
			}
			wrote = wrote || err == nil
		}
	}
	if !wrote && b.mode == "forgets" || b.mode == "quiet" && len(c.New) == 0 {
		return "", nil
	}
	if creating {
		if err := b.after(); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(made)
	return string(text), err
}

// before makes the mistakes at the start of Provision.
func (b *broken) before(ctx context.Context) error {
	switch b.mode {
	case "provision fails":
		return errors.New("the tool has no quota")
	case "retry":
		if _, err := os.Stat("../tried"); err != nil {
			return &lumi.RetryError{Err: cmp.Or(os.WriteFile("../tried", nil, 0o600), errors.New("busy"))}
		}
	case "log":
		fmt.Fprintln(os.Stderr, "using correct horse")
	case "lock":
		f, err := os.OpenFile("../lock", os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return errors.New("the state is locked")
		}
		return f.Close()
	case "leftover":
		time.Sleep(20 * time.Millisecond)
		if err := os.WriteFile("attempt-"+strconv.Itoa(os.Getpid()), nil, 0o600); err != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	case "stop":
		select {
		case <-ctx.Done():
			select {}
		case <-time.After(200 * time.Millisecond):
		}
	case "child":
		if _, err := os.Stat("../pid"); err != nil {
			child := exec.Command("sleep", "60")
			if err := child.Start(); err != nil {
				return err
			}
			return os.WriteFile("../pid", []byte(strconv.Itoa(child.Process.Pid)), 0o600)
		}
	}
	return nil
}

// after makes the mistakes at the end of Provision.
func (b *broken) after() error {
	switch b.mode {
	case "lock":
		time.Sleep(100 * time.Millisecond)
		return os.Remove("../lock")
	case "leftover":
		return os.Remove("attempt-" + strconv.Itoa(os.Getpid()))
	}
	return nil
}

func (b *broken) metadata(r *provisioner.Resource) provisioner.Properties {
	m := provisioner.Properties{"file": r.URN.Name()}
	switch b.mode {
	case "token secret":
		secret, _ := r.Properties["key"].(provisioner.Secret)
		m["key"] = secret
	case "other metadata":
		m["pid"] = os.Getpid()
	}
	return m
}

func (b *broken) Status(_ context.Context, text string) (*provisioner.Status, error) {
	var made token
	if err := json.Unmarshal([]byte(text), &made); err != nil && b.mode != "any token" {
		return nil, fmt.Errorf("token %q: %w", text, lumi.ErrNotFound)
	}
	s := &provisioner.Status{State: provisioner.Done, Metadata: made.Metadata}
	if len(made.Metadata) == 0 {
		return s, nil
	}
	switch b.mode {
	case "fails":
		return &provisioner.Status{State: provisioner.Failed, Message: "the tool says no"}, nil
	case "hangs":
		return &provisioner.Status{State: provisioner.Running, Message: "waits for a review"}, nil
	case "status fails":
		return nil, errors.New("the tool is gone")
	case "message":
		s.Message = "it is correct horse"
	case "keys":
		s.Metadata["nothing"] = provisioner.Properties{}
	case "metadata secret":
		for _, m := range s.Metadata {
			m["tags"] = []any{map[string]any{"key": "correct horse"}}
		}
	case "metadata":
		for _, m := range s.Metadata {
			m["key"] = provisioner.Secret{Value: "correct horse"}
		}
	case "forgetful":
		f, err := os.OpenFile("../"+fmt.Sprintf("%x", text[max(len(text)-60, 0):]), os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return nil, fmt.Errorf("forgotten: %w", lumi.ErrNotFound)
		}
		return s, f.Close()
	case "slow":
		if _, err := os.Stat("../asked"); err != nil {
			return &provisioner.Status{State: provisioner.Running}, os.WriteFile("../asked", nil, 0o600)
		}
	}
	return s, nil
}

// answer is the main function of a provisioner that speaks JSON.
func answer(p provisioner.Provisioner) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var request struct {
		Call, Token string
		Change      json.RawMessage
	}
	err := json.NewDecoder(os.Stdin).Decode(&request)
	m := &lumirpc.GraphChange{}
	if err == nil && request.Change != nil {
		err = protojson.Unmarshal(request.Change, m)
	}
	if err != nil {
		panic(err)
	}
	result := map[string]any{}
	switch request.Call {
	case "plan":
		var plan *provisioner.Plan
		if plan, err = p.Plan(ctx, provisioning.Decode(m)); plan != nil {
			result["text"], result["tasks"] = plan.Text, plan.Tasks
		}
	case "provision":
		result["token"], err = p.Provision(ctx, provisioning.Decode(m))
	case "status":
		var status *provisioner.Status
		if status, err = p.Status(ctx, request.Token); err == nil {
			result["state"], result["message"] = strings.ToUpper(string(status.State)), status.Message
			result["metadata"] = status.Metadata
		}
	}
	if err != nil {
		code := "UNKNOWN"
		if errors.Is(err, lumi.ErrNotFound) {
			code = "NOT_FOUND"
		} else if errors.As(err, new(*lumi.RetryError)) {
			code = "UNAVAILABLE"
		}
		result = map[string]any{"error": map[string]string{"code": code, "message": err.Error()}}
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		panic(err)
	}
}

// try runs the kit on the provisioner in the given mode, which speaks JSON if the mode starts with "json ". It returns the
// failures and the folder that contains the files' folder.
func try(t *testing.T, mode string, changes int) ([]string, string) {
	t.Helper()
	mode, inJSON := strings.CutPrefix(mode, "json ")
	dir := t.TempDir()
	path := filepath.Join(dir, "lumi-provisioner-broken")
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, path)
	}
	if err != nil {
		t.Fatal(err)
	}
	files := filepath.Join(dir, "files")
	if err := os.Mkdir(files, 0o700); err != nil {
		t.Fatal(err)
	}
	one := func(name, size string) *provisioner.Resource {
		return providertest.ProvisionerResource("demo:index:Disk", name, provisioner.Properties{
			"size": size, "key": provisioner.Secret{Value: "correct horse"},
		})
	}
	grace, patience := 10*time.Second, 20*time.Second
	switch mode {
	case "stop":
		grace = 400 * time.Millisecond
	case "hangs":
		patience = 2 * time.Second
	}
	return conforms(t, providertest.Provisioner{
		Command: plugin.Command{
			Path: path, JSON: inJSON, Dir: files, Log: io.Discard, Grace: grace,
			Env: append(os.Environ(), modeVariable+"="+mode, fmt.Sprintf("%s=%t", jsonVariable, inJSON), "GORACE=atexit_sleep_ms=0"),
		},
		Changes: []provisioner.Change{
			{New: []*provisioner.Resource{one("a", "small"), one("b", "small")}},
			{New: []*provisioner.Resource{one("a", "large"), one("b", "small")}},
		}[:changes],
		Observe:  func() (string, error) { return list(files) },
		Patience: patience,
	}), dir
}

// conforms runs the kit and its cleanup on a provisioner, and returns the failures.
func conforms(t *testing.T, p providertest.Provisioner) (failures []string) {
	var mu sync.Mutex
	r := &providertest.Trial{Ctx: t.Context(), Report: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		failures = append(failures, text)
		runtime.Goexit()
	}}
	r.Do(func() { providertest.RunProvisioner(r, p) })
	return failures
}

// list returns the names and contents of the files in a folder.
func list(folder string) (string, error) {
	all, err := os.ReadDir(folder)
	var text []string
	for _, f := range all {
		content, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return "", err
		}
		text = append(text, strings.TrimSpace(f.Name()+" "+string(content)))
	}
	return strings.Join(text, ", "), err
}

// Correct provisioners pass, whichever way they implement the contract.
func TestProvisioner(t *testing.T) {
	for mode, changes := range map[string]int{
		"good": 2, "tasks": 1, "retry": 1, "slow": 1, "quiet": 1, "metadata": 2, "json good": 2, "json tasks": 1, "json retry": 1, "json slow": 1,
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			failures, dir := try(t, mode, changes)
			if len(failures) > 0 {
				t.Errorf("failures =\n%s\nwant none", strings.Join(failures, "\n"))
			}
			if left, err := list(filepath.Join(dir, "files")); left != "" || err != nil {
				t.Errorf("remaining files = %s, %v, want none", left, err)
			}
		})
	}
}

// Each violated rule is reported. If the cleanup fails, too, it violates the same rule.
func TestBrokenProvisioner(t *testing.T) {
	if testing.Short() {
		t.Skip("starts hundreds of processes")
	}
	const start, first, crashes = "before the first change: ", "change 1: ", "change 1 with crashes: "
	for mode, test := range map[string]struct{ rule, want string }{
		"name": {"name", start + `the handshake name is "other", so the executable must be named lumi-provisioner-other` +
			", not lumi-provisioner-broken"},
		"plan writes":     {"plan", start + "Plan has side effects\nbefore: \nafter:  planned"},
		"plan fails":      {"plan", first + "Plan failed: the tool cannot plan"},
		"value":           {"value", start + "Plan crashes if a property is a reference: the provisioner panicked: no reference expected"},
		"value exits":     {"value", start + "Plan crashes if a property is JSON: the plugin is gone (exit status 3): …"},
		"value words":     {"value", start + "Plan rejects a property that is JSON without a message"},
		"delete":          {"delete", start + "Provision failed: 404 not found"},
		"provision fails": {"status", first + "Provision failed: the tool has no quota"},
		"fails":           {"status", first + "the change is failed, not done: the tool says no"},
		"hangs":           {"status", first + "the change is not done after 2s: waits for a review"},
		"status fails":    {"status", first + "Status failed: the tool is gone"},
		"forgetful": {"status", first + "Status returns a different result to another process after the change is done: forgotten: " +
			"no such resource"},
		"any token": {"token", first + `Status of "", a token that Provision did not return, must return NOT_FOUND, but returned a status`},
		"repeat": {"repeat", first + "Repeating a finished Provision changes resources\n" +
			"before: a small, b small\nafter:  a smallsmall, b smallsmall"},
		"other metadata": {"repeat", first + "Repeating a finished Provision changes metadata: …"},
		"forgets": {"repeat", first + "Repeating a finished Provision changes metadata: map[], not" +
			" map[app:demo:index:Disk::a:8:map[file:a] app:demo:index:Disk::b:8:map[file:b]]"},
		"lock":     {"repeat", crashes + "Provision failed: the state is locked"},
		"leftover": {"repeat", crashes + "Repeating a killed Provision does not lead to the same result\nbefore: a small, b small\nafter:  a small, attempt-…"},
		"stop":     {"process", crashes + "stopped during Provision: the plugin did not exit within 400ms and was killed"},
		"child":    {"process", "after the last change: processes still running: sleep"},
		"keys":     {"metadata", first + `Status returned metadata for "nothing", which is not the key of a resource in New`},
		"token secret": {"secret", first + `secret in the token: {"Mode":"token secret","Metadata":` +
			`{"app:demo:index:Disk::a:8":{"file":"a","key":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270",` +
			`"value":"(secret)"}},…`},
		"metadata secret": {"secret", first + "secret in metadata of app:demo:index:Disk::a:8, unwrapped: (secret)"},
		"message":         {"secret", first + "secret in a message of Status: it is (secret)"},
		"task secret":     {"secret", first + "secret in the plan: use (secret)"},
		"log":             {"secret", first + "secret in the log: using (secret)"},

		"json value exits": {"value", start + "Plan crashes if a property is JSON: the provisioner exited without an answer: exit status 3"},
		"json any token":   {"token", first + `Status of "", a token that Provision did not return, must return NOT_FOUND, but returned a status`},
		"json leftover":    {"repeat", crashes + "Repeating a killed Provision does not lead to the same result\nbefore: a small, b small\nafter:  a small, attempt-…"},
		"json child":       {"process", "after the last change: processes still running: sleep"},
		"json log":         {"secret", first + "secret in the log: using (secret)"},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			failures, dir := try(t, mode, 1)
			if pid, err := os.ReadFile(filepath.Join(dir, "pid")); err == nil {
				if n, err := strconv.Atoi(string(pid)); err == nil {
					_ = syscall.Kill(n, syscall.SIGKILL) // It has no children.
				}
			}
			suffix := fmt.Sprintf("\n\tThis breaks the rule %q of docs/protocol.md#the-contract-of-a-provisioner", test.rule)
			if len(failures) == 0 {
				t.Fatal("RunProvisioner reported no failure, want one")
			}
			want, open := strings.CutSuffix(test.want, "…")
			got := strings.TrimSuffix(failures[0], suffix)
			if got != want && (!open || !strings.HasPrefix(got, want)) {
				t.Errorf("failure = %s\nwant %s", got, want)
			}
			for _, f := range failures {
				if !strings.HasSuffix(f, suffix) {
					t.Errorf("failure %s is not of rule %s", f, test.rule)
				}
			}
		})
	}
}

// docs/protocol.md and the package documentation list every rule.
func TestRulesDocumented(t *testing.T) {
	protocol, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(protocol), "\n### The contract of a provisioner\n")
	if !ok {
		t.Fatal("docs/protocol.md lacks the section on the contract of a provisioner")
	}
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, m := range regexp.MustCompile(`(?m)^//   - (\w+): `).FindAllStringSubmatch(string(doc), -1) {
		rules = append(rules, m[1])
		if !strings.Contains(section, "| "+m[1]+" |") {
			t.Errorf("docs/protocol.md lacks the rule %q", m[1])
		}
	}
	for _, file := range []string{"provisioner.go", "provisioner_calls.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?:fail|fatal|settle|same)\((?:\w+, |k\.seen\[i\], )?"(\w+)"`).FindAllStringSubmatch(string(source), -1) {
			if !slices.Contains(rules, m[1]) {
				t.Errorf("%s: rule %q is not documented in doc.go", file, m[1])
			}
		}
	}
}

func TestProvisionerMisuse(t *testing.T) {
	for _, test := range []struct {
		p    providertest.Provisioner
		want string
	}{
		{providertest.Provisioner{}, "providertest: Provisioner.Changes[0] must create something"},
		{providertest.Provisioner{Command: plugin.Command{Path: "/nowhere/lumi-provisioner-x"}, Changes: []provisioner.Change{
			{New: []*provisioner.Resource{providertest.ProvisionerResource("demo:index:Disk", "a", nil)}},
		}}, "before the first change: cannot start the plugin: fork/exec /nowhere/lumi-provisioner-x: no such file or directory\n" +
			"\tThis breaks the rule \"process\" of docs/protocol.md#the-contract-of-a-provisioner"},
	} {
		if failures := conforms(t, test.p); len(failures) != 1 || failures[0] != test.want {
			t.Errorf("failures = %q, want %q", failures, test.want)
		}
	}
}
