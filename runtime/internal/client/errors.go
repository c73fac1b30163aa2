package client

import (
	"context"
	"errors"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
)

// Error is an error of a plugin for which package lumi has no type. Depending on the code, it wraps [lumi.ErrNotFound],
// [context.Canceled], [context.DeadlineExceeded], [errors.ErrUnsupported], or nothing.
type Error struct {
	// Code is the gRPC status code. See provider.proto.
	Code codes.Code
	// Message is human-readable.
	Message string
	// Crash describes the exit of the plugin's process. It is zero unless the exit caused the error.
	Crash Crash
}

// Crash describes how a plugin's process exited during a call.
type Crash struct {
	// Status is the exit status or signal, such as "exit status 7". It is empty if there was no crash.
	Status string
	// Output is the end of the process's standard error.
	Output string
}

// LastLine returns the last line of the output.
func (c Crash) LastLine() string { return c.Output[strings.LastIndexByte(c.Output, '\n')+1:] }

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the error that corresponds to the code, or nil if there is none.
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

// ErrorOf converts a status to the error that the plugin returned, or to an *[Error] if it has no special type. It returns
// nil if the status is OK.
func ErrorOf(s *status.Status) error {
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

// wrapped is an error with a text by which the plugin's author wrapped it.
type wrapped struct {
	text string
	err  error
}

func (w *wrapped) Error() string { return w.text }

func (w *wrapped) Unwrap() error { return w.err }

// withText wraps err with message if message contains more than the text of err. Otherwise, for instance if message is
// truncated, it returns err.
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

// changing lists the methods with side effects.
var changing = []string{
	lumirpc.ResourceProvider_Create_FullMethodName, lumirpc.ResourceProvider_Update_FullMethodName,
	lumirpc.ResourceProvider_Delete_FullMethodName,
}

// Outcome returns the error for a call that was sent and failed with err. If the method has side effects, it applies
// [lumi.Uncertain] unless err implies that nothing was changed.
func Outcome(method string, err error) error {
	if !slices.Contains(changing, method) {
		return err
	}
	var output *lumi.OutputError
	e, plain := err.(*Error) //nolint:errorlint // It is not wrapped.
	if plain && !slices.Contains(certain, e.Code) || errors.As(err, &output) {
		return lumi.Uncertain(err)
	}
	return err
}

// certain lists the codes that imply that nothing was changed.
var certain = []codes.Code{
	codes.InvalidArgument, codes.NotFound, codes.FailedPrecondition, codes.Unimplemented, codes.Unauthenticated, codes.Unknown,
}
