package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
)

// Error is an error without a type in the runtime. It wraps [lumi.ErrNotFound], [context.Canceled],
// [context.DeadlineExceeded] or [errors.ErrUnsupported] where applicable.
type Error struct {
	// Code is the kind of error, as documented in provider.proto.
	Code codes.Code
	// Message is human-readable.
	Message string
	// Crash describes the exit of the plugin's process if it caused the error.
	Crash Crash
}

// Crash describes how a plugin's process exited during a call.
type Crash struct {
	// Status is the exit status or the signal, such as "exit status 7". It is empty if there was no crash.
	Status string
	// Output is the end of the process's standard error.
	Output string
}

// LastLine returns the last line of the output.
func (c Crash) LastLine() string { return c.Output[strings.LastIndexByte(c.Output, '\n')+1:] }

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the error that the code corresponds to, or nil.
func (e *Error) Unwrap() error {
	switch e.Code {
	case codes.NotFound:
		return lumi.ErrNotFound
	case codes.Canceled:
		return context.Canceled
	case codes.DeadlineExceeded:
		return context.DeadlineExceeded
	case codes.Unimplemented:
		return errors.ErrUnsupported
	}
	return nil
}

// errorOf converts a status back to the plugin's original error.
func errorOf(s *status.Status) error {
	if s.Code() == codes.OK {
		return nil
	}
	plain := &Error{Code: s.Code(), Message: s.Message()}
	for _, detail := range s.Details() {
		switch d := detail.(type) {
		case *lumirpc.Faults:
			if len(d.GetFaults()) == 0 {
				continue
			}
			if s.Code() == codes.InvalidArgument {
				return &lumi.InvalidError{Faults: faults(d)}
			}
			if s.Code() == codes.Internal {
				return withText(s.Message(), &lumi.OutputError{Faults: faults(d)})
			}
		case *lumirpc.Replacement:
			if s.Code() == codes.FailedPrecondition {
				return withText(s.Message(), &lumi.ReplaceError{Paths: paths(d.GetPaths())})
			}
		case *lumirpc.Uncertain:
			if s.Code() == codes.Aborted {
				return lumi.Uncertain(plain)
			}
		case *errdetails.RetryInfo:
			if s.Code() == codes.Unavailable {
				return &lumi.RetryError{Err: plain, After: d.GetRetryDelay().AsDuration()}
			}
		}
	}
	return plain
}

// wrapped is an error with the text that the author wrapped around it.
type wrapped struct {
	text string
	err  error
}

func (w *wrapped) Error() string { return w.text }

func (w *wrapped) Unwrap() error { return w.err }

// withText returns err with the message's text if that adds to err's own. A truncated message does not.
func withText(message string, err error) error {
	if text := err.Error(); message == text || !strings.Contains(message, text) {
		return err
	}
	return &wrapped{message, err}
}

func faults(d *lumirpc.Faults) []lumi.Fault {
	all := make([]lumi.Fault, len(d.GetFaults()))
	for i, f := range d.GetFaults() {
		all[i] = lumi.Fault{Path: lumi.Path(f.GetPath()), Message: f.GetMessage()}
	}
	return all
}

func paths(all []string) []lumi.Path {
	var list []lumi.Path
	for _, p := range all {
		list = append(list, lumi.Path(p))
	}
	return list
}

// changing lists the calls that may change something.
var changing = []string{
	lumirpc.ResourceProvider_Create_FullMethodName, lumirpc.ResourceProvider_Update_FullMethodName,
	lumirpc.ResourceProvider_Delete_FullMethodName,
}

// outcome returns the error of a changing call that was sent. The outcome is uncertain unless the error implies that
// nothing changed.
func outcome(err error) error {
	var output *lumi.OutputError
	e, plain := err.(*Error) //nolint:errorlint // Nothing wraps it.
	if plain && !slices.Contains(certain, e.Code) || errors.As(err, &output) {
		return lumi.Uncertain(err)
	}
	return err
}

// certain lists the codes that imply that nothing changed.
var certain = []codes.Code{
	codes.InvalidArgument, codes.NotFound, codes.FailedPrecondition, codes.Unimplemented, codes.Unauthenticated, codes.Unknown,
}

// awaitDeadline waits for a context that is about to end. The plugin knows the deadline and may notice it first, but
// callers ask the context why a call failed.
func awaitDeadline(ctx context.Context) {
	if at, ok := ctx.Deadline(); ok && time.Until(at) < time.Second {
		<-ctx.Done()
	}
}

// explain returns the provider's error for a call's error. If the plugin's process has exited, it adds the exit
// status.
func (c *connection) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	err = errorOf(status.Convert(err))
	e, plain := err.(*Error) //nolint:errorlint // Nothing wraps it.
	if plain && e.Code == codes.DeadlineExceeded {
		awaitDeadline(ctx)
		if strings.HasPrefix(e.Message, "stream terminated by RST_STREAM") {
			e.Message = context.DeadlineExceeded.Error() // gRPC's message if the plugin notices first
		}
	}
	if c.process == nil || !plain || e.Code != codes.Unavailable {
		return err
	}
	select {
	case <-c.process.ended:
		if c.process.err != nil {
			e.Message = fmt.Sprintf("the plugin is gone (%v): %s", c.process.err, e.Message)
			e.Crash = Crash{Status: c.process.err.Error(), Output: c.process.said.String()}
		}
	case <-time.After(time.Second): // The connection may break before the exit is noticed.
	}
	return e
}
