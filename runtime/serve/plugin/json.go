package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// jsonConn implements [grpc.ClientConnInterface] for a provisioner that speaks JSON. For each call, it writes the request to
// the standard input of a process and reads the response from its standard output. Messages have their canonical JSON form.
type jsonConn struct {
	command Command
	log     *output

	mu     sync.Mutex
	closed bool
	// next is a process that waits for a request, or nil. processes contains all processes.
	next      *process
	processes []*process
}

// startJSON starts a process for the first call, so that it reports an executable that cannot be started.
func startJSON(c Command) (conn *jsonConn, err error) {
	conn = &jsonConn{command: c, log: newOutput(c)}
	conn.next, err = conn.take()
	return conn, err
}

// take returns a process for a call.
func (c *jsonConn) take() (*process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, &Error{Code: codes.FailedPrecondition, Message: "the plugin is closed"}
	}
	if p := c.next; p != nil {
		c.next = nil
		return p, nil
	}
	p, err := startProcess(c.command, c.log, "")
	if err == nil {
		c.processes = append(c.processes, p)
	}
	return p, err
}

// close stops all processes and returns an error if one must be killed.
func (c *jsonConn) close() error {
	c.mu.Lock()
	c.closed = true
	all := c.processes
	c.mu.Unlock()
	errs := make([]error, len(all))
	var stops sync.WaitGroup
	for i, p := range all {
		stops.Go(func() { errs[i] = p.stop() })
	}
	stops.Wait()
	return cmp.Or(errs...)
}

// NewStream implements [grpc.ClientConnInterface].
func (*jsonConn) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, errors.ErrUnsupported
}

// Invoke implements [grpc.ClientConnInterface]. Only generated code calls it. Its errors are the same as over gRPC.
func (c *jsonConn) Invoke(ctx context.Context, method string, args, reply any, _ ...grpc.CallOption) error {
	call, secrets := strings.ToLower(path.Base(method)), wire.SecretsOf(ctx)
	request, err := requestOf(call, args.(proto.Message))
	if err != nil {
		return err
	}
	p, err := c.take()
	if err != nil {
		return err
	}
	c.log.begin(secrets)
	defer context.AfterFunc(ctx, func() { _ = p.stop() })()
	go func() { // A process need not read the request, so errors do not matter.
		_, _ = p.stdin.Write(request)
		_ = p.stdin.Close()
	}()
	<-p.ended
	failed, err := p.answer.parse(call, reply.(proto.Message))
	var exit *exec.ExitError
	isFailure := errors.As(p.err, &exit) && !p.answer.over // A process that writes too much gets a SIGPIPE.
	switch {
	case failed != nil:
		return failed.error(secrets)
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &Error{Code: status.FromContextError(ctx.Err()).Code(), Message: ctx.Err().Error()}
	case isFailure || len(p.answer.text) == 0:
		return p.unanswered(exit, secrets)
	}
	return &Error{Code: codes.Internal, Message: err.Error()}
}

// requestOf returns a request in JSON. It includes the default values, so that lists are never absent.
func requestOf(call string, m proto.Message) ([]byte, error) {
	text, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the request: %w", err)
	}
	return append(fmt.Appendf(nil, `{"protocol":%d,"call":%q,`, lumirpc.ProtocolVersion, call), text[1:]...), nil
}

// unanswered returns the error for a process that exited without an answer. exit is nil if its exit status is 0.
func (p *process) unanswered(exit *exec.ExitError, secrets *wire.Secrets) error {
	e := &Error{Code: codes.Unavailable, Crash: Crash{Status: errNoReason.Error(), Output: wire.Mask(p.said.String(), secrets)}}
	if exit != nil {
		e.Crash.Status = exit.Error()
	}
	e.Message = "the provisioner exited without an answer: " + e.Crash.Status
	if e.Crash.Output != "" {
		e.Message += "\nThe plugin wrote:\n" + e.Crash.Output
	}
	return e
}

// answer is a writer for the response to a call.
type answer struct {
	text []byte
	over bool // more than maxAnswer bytes were written
}

var maxAnswer = lumirpc.MaxMessageSize // smaller in a test

// Write implements [io.Writer].
func (a *answer) Write(data []byte) (int, error) {
	if a.over = a.over || len(a.text)+len(data) > maxAnswer; a.over {
		return 0, io.ErrShortWrite
	}
	a.text = append(a.text, data...)
	return len(data), nil
}

var unmarshal = protojson.UnmarshalOptions{DiscardUnknown: true}

// forms maps calls to the forms of their answers.
var forms = map[string]string{
	"plan":      `{"text": TEXT, "tasks": [TEXT]}`,
	"provision": `{"token": TEXT}`,
	"status":    `{"state": "RUNNING" | "FAILED" | "DONE", "message": TEXT, "metadata": {KEY: {NAME: VALUE}}}`,
	"error":     `{"error": {"code": "NOT_FOUND" | "UNAVAILABLE", "message": TEXT, "retryDelay": "30s"}}`,
}

// parse stores the answer to a call in reply, or returns the author's error. Its own errors contain no part of the answer, which
// may be secret. It ignores unknown members.
func (a *answer) parse(call string, reply proto.Message) (*failure, error) {
	if a.over {
		return nil, errors.New("the answer is larger than 512 MiB")
	}
	var members map[string]json.RawMessage
	err := json.Unmarshal(a.text, &members)
	if wrong := (*json.SyntaxError)(nil); errors.As(err, &wrong) {
		return nil, fmt.Errorf("standard output must contain only the answer, in JSON: %w", wrong)
	}
	if text := members["error"]; text != nil && string(text) != "null" {
		var f failure
		if err = json.Unmarshal(text, &f); err == nil {
			f.delay, err = time.ParseDuration(cmp.Or(f.RetryDelay, "0s"))
		}
		if err == nil {
			return &f, nil
		}
		return nil, errors.New("an error must have the form " + forms["error"])
	}
	err = unmarshal.Unmarshal(a.text, reply)
	status, isStatus := reply.(*lumirpc.StatusResponse)
	if err != nil || call == "provision" && members["token"] == nil || isStatus && status.GetState() == 0 {
		return nil, errors.New("the answer must have the form " + forms[call])
	}
	return nil, nil
}

// failure is an error in an answer.
type failure struct {
	Code       codes.Code `json:"code"`
	Message    string     `json:"message"`
	RetryDelay string     `json:"retryDelay"`
	delay      time.Duration
}

// maxMessage is the maximum length of an error's message, as over gRPC.
const maxMessage = 8 << 10

func (f *failure) error(secrets *wire.Secrets) error {
	message := wire.Mask(cmp.Or(f.Message, "failed without a message"), secrets)
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "…"
	}
	e := &Error{Code: cmp.Or(f.Code, codes.Unknown), Message: message}
	if e.Code == codes.Unavailable {
		return &lumi.RetryError{Err: e, After: f.delay}
	}
	return e
}

// readEvent returns the event on a line of standard error, or nil if the line is not an event.
func readEvent(line []byte) *lumirpc.Event {
	e := &lumirpc.Event{}
	if err := unmarshal.Unmarshal(line, e); err != nil || e.GetMessage() == "" {
		return nil
	}
	return e
}
