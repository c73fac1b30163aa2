package plugin

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// script returns a provisioner that is a shell script, and its log.
func script(t *testing.T, text string, events func(lumi.Event)) (*Provisioner, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	grace := time.Minute
	if strings.Contains(text, "trap '' TERM; sleep") { // It must be killed.
		grace = 300 * time.Millisecond
	}
	p, err := StartProvisioner(t.Context(), Command{
		Path: "/bin/sh", Args: []string{"-c", text}, JSON: true, Log: &log, Events: events, Grace: grace,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() }) // Some tests cause an error on purpose.
	return p, &log
}

// change is a change with a secret.
var change = &provisioner.Change{Environment: "dev", Module: "a", New: []*provisioner.Resource{{
	Key: "a:sim:index:Disk::d:1", URN: "urn:lumi:dev::a:index::sim:index:Disk::d", Type: "sim:index:Disk",
	Properties: provisioner.Properties{"password": provisioner.Secret{Value: "hunter2-hunter2"}, "size": 1.5},
}}}

// masked returns a context for a call with the secret of change.
func masked(t *testing.T) context.Context {
	secrets := wire.NewSecrets(nil)
	secrets.AddValue("hunter2-hunter2")
	return wire.WithSecrets(t.Context(), secrets)
}

func call(ctx context.Context, p *Provisioner, method string) (result any, err error) {
	switch method {
	case "plan":
		return p.Plan(ctx, change)
	case "provision":
		return p.Provision(ctx, change)
	}
	return p.Status(ctx, "token")
}

func TestJSONRequests(t *testing.T) {
	for call, want := range map[string]string{
		"status": `{"protocol":1,"call":"status","token":""}`,
		"provision": `{"protocol":1,"call":"provision","change":{"environment":"dev","module":"a","new":[{"key":"a:sim:index:Disk::d:1",` +
			`"urn":"urn:lumi:dev::a:index::sim:index:Disk::d","type":"sim:index:Disk","id":"","properties":{"password":` +
			`{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","value":"hunter2-hunter2"},"size":1.5},` +
			`"dependencies":[]}],"old":[],"context":[],"task":""}}`,
	} {
		p, log := script(t, `cat >&2; echo '{"token": "", "state": "DONE"}'`, nil)
		var err error
		if call == "status" {
			_, err = p.Status(t.Context(), "")
		} else {
			_, err = p.Provision(t.Context(), change)
		}
		got := strings.NewReplacer(", ", ",", ": ", ":").Replace(log.String()) // protojson adds spaces at random.
		if err != nil || got != want+"\n" {
			t.Errorf("%s: request = %s, error %v, want %s", call, got, err, want)
		}
	}
}

func TestJSONAnswers(t *testing.T) {
	for _, test := range []struct {
		call, script string
		want         any
	}{
		{"plan", `echo '{}'`, &provisioner.Plan{}},
		{"plan", `echo '{"text": "a", "tasks": ["b"], "more": {"c": 1}, "error": null}'; exit 3`, &provisioner.Plan{Text: "a", Tasks: []string{"b"}}},
		{"provision", `exec <&-; echo '{"token": "a"}'`, "a"},
		{"provision", `cat >/dev/null; printf '\n{"token":\n""}\n\n'`, ""},
		{"status", `echo '{"state": "RUNNING", "message": "waits"}'`, &provisioner.Status{State: provisioner.Running, Message: "waits"}},
		{"status", `echo '{"state": "DONE", "metadata": {"k": {"a": [1, null], "b": null}}}'; sleep 60 >/dev/null 2>&1 </dev/null & `,
			&provisioner.Status{State: provisioner.Done, Metadata: map[string]provisioner.Properties{"k": {"a": []any{1.0, nil}}}}},
	} {
		p, _ := script(t, test.script, nil)
		if got, err := call(t.Context(), p, test.call); err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s of %s = %+v, %v, want %+v", test.call, test.script, got, err, test.want)
		}
		if err := p.Close(); err != nil {
			t.Errorf("Close after %s = %v, want nil", test.script, err)
		}
	}
}

func TestJSONErrors(t *testing.T) {
	const (
		only   = "standard output must contain only the answer, in JSON: "
		status = `the answer must have the form {"state": "RUNNING" | "FAILED" | "DONE", "message": TEXT, "metadata": {KEY: {NAME: VALUE}}}`
		failed = `an error must have the form {"error": {"code": "NOT_FOUND" | "UNAVAILABLE", "message": TEXT, "retryDelay": "30s"}}`
	)
	for _, test := range []struct {
		call, script, want string
		code               codes.Code
	}{
		{"provision", ``, "the provisioner exited without an answer: exit status 0", codes.Unavailable},
		{"provision", `echo no license for hunter2-hunter2 >&2; exit 3`,
			"the provisioner exited without an answer: exit status 3\nThe plugin wrote:\nno license for (secret)", codes.Unavailable},
		{"provision", `echo '{"token":'; exit 3`, "the provisioner exited without an answer: exit status 3", codes.Unavailable},
		{"provision", `kill -9 $$`, "the provisioner exited without an answer: signal: killed", codes.Unavailable},
		{"provision", `echo hello; echo '{"token": "a"}'`, only + "invalid character 'h' looking for beginning of value", codes.Internal},
		{"provision", `echo '{"token": "a"}'; echo '{"token": "b"}'`, only + "invalid character '{' after top-level value", codes.Internal},
		{"provision", `echo '{"token": "a"}'; echo done`, only + "invalid character 'd' after top-level value", codes.Internal},
		{"provision", `echo '{"token":'`, only + "unexpected end of JSON input", codes.Internal},
		{"provision", `echo '{}'`, `the answer must have the form {"token": TEXT}`, codes.Internal},
		{"provision", `echo '{"token": 5}'`, `the answer must have the form {"token": TEXT}`, codes.Internal},
		{"provision", `echo '{"token": "a", "token": "b"}'`, `the answer must have the form {"token": TEXT}`, codes.Internal},
		{"provision", `printf '{"token": "\377"}'`, `the answer must have the form {"token": TEXT}`, codes.Internal},
		{"plan", `echo '[]'`, `the answer must have the form {"text": TEXT, "tasks": [TEXT]}`, codes.Internal},
		{"plan", `echo null`, `the answer must have the form {"text": TEXT, "tasks": [TEXT]}`, codes.Internal},
		{"status", `echo '{}'`, status, codes.Internal},
		{"status", `echo '{"state": "done"}'`, status, codes.Internal},
		{"status", `echo '{"state": "DONE", "metadata": {"k": "s3cret"}}'`, status, codes.Internal},
		{"status", `echo '{"error": "gone"}'`, failed, codes.Internal},
		{"status", `echo '{"error": {"code": "GONE"}}'`, failed, codes.Internal},
		{"status", `echo '{"error": {"retryDelay": 30}}'`, failed, codes.Internal},
		{"status", `echo '{"error": {"retryDelay": "soon"}}'`, failed, codes.Internal},
		{"status", `echo '{"error": {}}'`, "failed without a message", codes.Unknown},
		{"status", `echo '{"error": {"message": "no quota for hunter2-hunter2"}, "state": 5}'; exit 1`, "no quota for (secret)", codes.Unknown},
		{"status", `echo '{"error": {"code": "NOT_FOUND", "message": "no run a"}}'`, "no run a", codes.NotFound},
		{"status", `printf '{"error": {"message": "%09000d"}}' 1`, strings.Repeat("0", maxMessage) + "…", codes.Unknown},
	} {
		p, _ := script(t, test.script, nil)
		_, err := call(masked(t), p, test.call)
		var e *Error
		if !errors.As(err, &e) || e.Error() != test.want || e.Code != test.code || (test.code == codes.NotFound) != errors.Is(err, lumi.ErrNotFound) {
			t.Errorf("%s of %s: error %v, want %s with code %v", test.call, test.script, err, test.want, test.code)
		}
	}
	for delay, want := range map[string]time.Duration{``: 0, `, "retryDelay": "1.5s"`: 1500 * time.Millisecond} {
		p, _ := script(t, `echo '{"error": {"code": "UNAVAILABLE", "message": "locked"`+delay+`}}'`, nil)
		_, err := call(t.Context(), p, "provision")
		var e *lumi.RetryError
		if !errors.As(err, &e) || e.After != want || e.Error() != "locked" {
			t.Errorf("error = %v, want a retry after %v", err, want)
		}
	}
}

func TestJSONLimits(t *testing.T) {
	maxAnswer = 1 << 20
	defer func() { maxAnswer = lumirpc.MaxMessageSize }()
	p, _ := script(t, `yes '{"token": "a"}'`, nil)
	_, err := call(t.Context(), p, "provision")
	if err == nil || err.Error() != "the answer is larger than 512 MiB" {
		t.Errorf("error of an endless answer = %v", err)
	}
	large := *change
	// A process need not read its request, which does not fit into the pipe.
	p, _ = script(t, `echo '{"token": "a"}'`, nil)
	large.Task = strings.Repeat("x", 1<<20)
	if token, err := p.Provision(t.Context(), &large); token != "a" || err != nil {
		t.Errorf("Provision that does not read the request = %q, %v, want a", token, err)
	}
}

// Events and other lines of standard error are told apart. Both are masked.
func TestJSONEvents(t *testing.T) {
	var events []lumi.Event
	p, log := script(t, `cat >/dev/null
		echo plain hunter2-hunter2 >&2
		echo '{"message": "copied hunter2-hunter2", "progress": true, "percent": 5}' >&2
		echo '{"severity": "WARNING", "message": "slow", "urn": "urn:lumi:dev::a:index::sim:index:Disk::d"}' >&2
		echo '{"@level": "info", "@message": "of a tool"}' >&2
		echo '{"message": {}}' >&2
		echo '{"message": "last"' >&2
		printf '{"severity": "ERROR", "message": "no line end"}' >&2
		echo '{"token": "a"}'`, func(e lumi.Event) { events = append(events, e) })
	if _, err := call(masked(t), p, "provision"); err != nil {
		t.Fatal(err)
	}
	want := []lumi.Event{
		{Message: "copied (secret)", Progress: true},
		{Message: "slow", Level: slog.LevelWarn, URN: "urn:lumi:dev::a:index::sim:index:Disk::d"},
		{Message: "no line end", Level: slog.LevelError},
	}
	if !slices.Equal(events, want) {
		t.Errorf("events = %+v, want %+v", events, want)
	}
	const lines = "plain (secret)\n" + `{"@level": "info", "@message": "of a tool"}` + "\n" + `{"message": {}}` + "\n" + `{"message": "last"` + "\n"
	if log.String() != lines {
		t.Errorf("log = %q, want %q", log, lines)
	}
	many := 0
	p, log = script(t, `for i in $(seq 1001); do echo '{"message": "'$i'"}'; done >&2; echo '{"token": "a"}'`, func(lumi.Event) { many++ })
	_, err := call(t.Context(), p, "provision")
	if want := "dropped 1 events; set LUMI_PLUGIN_LOG=all to see everything\n"; err != nil || many != maxEvents || log.String() != want {
		t.Errorf("events = %d, log %q, error %v, want %d and %q", many, log, err, maxEvents, want)
	}
}

// A process that is stopped can still answer. It leaves no children.
func TestJSONStop(t *testing.T) {
	const ready = `sleep 0.1; echo '{"message": "'$!'"}' >&2; `
	for _, test := range []struct{ script, want, close string }{
		{`sleep 60 & ` + ready + `wait`, "the provisioner exited without an answer: signal: terminated", ""},
		{`(trap '' TERM; exec sleep 60 </dev/null >/dev/null 2>&1) & ` + ready + `wait`,
			"the provisioner exited without an answer: signal: terminated", ""},
		{`trap '' TERM; sleep 60 & ` + ready + `wait`,
			"the provisioner exited without an answer: signal: killed", "the plugin did not exit within 300ms and was killed"},
		{`trap 'echo "{\"error\": {\"message\": \"interrupted\"}}"; exit' TERM; sleep 60 & ` + ready + `wait`, "interrupted", ""},
		{`trap 'echo "{\"token\": \"half\"}"; exit' TERM; sleep 60 & ` + ready + `wait`, "", ""},
	} {
		for _, byContext := range []bool{false, true} {
			started := make(chan string, 1)
			p, _ := script(t, "cat >/dev/null; "+test.script, func(e lumi.Event) { started <- e.Message })
			ctx, cancel := context.WithCancel(t.Context())
			result := make(chan error, 1)
			go func() {
				_, err := call(ctx, p, "provision")
				result <- err
			}()
			child, err := strconv.Atoi(<-started)
			if err != nil {
				t.Fatal(err)
			}
			want := test.want
			if byContext {
				cancel()
				if strings.HasPrefix(want, "the provisioner") {
					want = "context canceled"
				}
			}
			if err := p.Close(); text(err) != test.close {
				t.Errorf("%s: Close = %v, want %q", test.script, err, test.close)
			}
			err = <-result
			cancel()
			if text(err) != want {
				t.Errorf("%s (canceled: %t): error %v, want %q", test.script, byContext, err, want)
			}
			ignores := strings.HasPrefix(test.script, "(trap") && !byContext
			for begin := time.Now(); ignores && syscall.Kill(child, 0) == nil; time.Sleep(time.Millisecond) {
				if time.Since(begin) > 10*time.Second {
					t.Fatalf("%s: the child is still running", test.script)
				}
			}
			if _, err := call(t.Context(), p, "plan"); text(err) != "the plugin is closed" {
				t.Errorf("Plan after Close: error %v", err)
			}
		}
	}
}

// text returns the first line of an error, or "" for nil.
func text(err error) string {
	if err == nil {
		return ""
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func TestJSONMissing(t *testing.T) {
	_, err := StartProvisioner(t.Context(), Command{Path: "/nowhere/x", JSON: true})
	if !errors.Is(err, fs.ErrNotExist) || err.Error() != "fork/exec /nowhere/x: no such file or directory" {
		t.Errorf("StartProvisioner error = %v", err)
	}
}
