package serve

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
)

// What is said of an error must fit into metadata, for which others than Go allow little.
const (
	maxMessage = 8 << 10
	maxDetails = 64 << 10
)

// refusal is an error of this package's own, for calls that do not reach the provider. An author's error may be the
// status of another service, which must not be taken for one of ours.
type refusal struct{ *status.Status }

func (r refusal) Error() string { return r.Message() }

func refuse(code codes.Code, format string, args ...any) error {
	return refusal{status.Newf(code, format, args...)}
}

// statusOf tells the caller of an error that a provider returned for a call with the context. It is never OK.
func statusOf(ctx context.Context, err error) *status.Status {
	var (
		refused refusal
		invalid *lumi.InvalidError
		replace *lumi.ReplaceError
		output  *lumi.OutputError
		retry   *lumi.RetryError
	)
	err = lumi.Invalid(err) // faults may also be what is behind a partial failure
	switch {
	case err == nil:
		return status.New(codes.Unknown, "failed, and the provider does not say why")
	case errors.As(err, &refused):
		return refused.Status
	case errors.As(err, &invalid):
		return newStatus(codes.InvalidArgument, err, faults(invalid.Faults))
	case errors.As(err, &replace):
		return newStatus(codes.FailedPrecondition, err, replacement(replace.Paths))
	case errors.As(err, &output):
		return newStatus(codes.Internal, err, faults(output.Faults))
	case errors.As(err, &retry):
		return newStatus(codes.Unavailable, err, &errdetails.RetryInfo{RetryDelay: durationpb.New(retry.After)})
	case errors.Is(err, lumi.ErrNotFound):
		return newStatus(codes.NotFound, err)
	case ctx.Err() == nil: // Then a context's error is of one that the author made.
		return newStatus(codes.Unknown, err)
	case errors.Is(err, context.DeadlineExceeded):
		return newStatus(codes.DeadlineExceeded, err)
	case errors.Is(err, context.Canceled):
		return newStatus(codes.Canceled, err)
	}
	return newStatus(codes.Unknown, err)
}

func newStatus(code codes.Code, err error, details ...protoadapt.MessageV1) *status.Status {
	s := status.New(code, bounded(err.Error()))
	if detailed, err := s.WithDetails(details...); err == nil {
		return detailed
	}
	return s // which cannot be, since all details are valid messages
}

// faults makes a detail of as many faults as fit.
func faults(all []lumi.Fault) protoadapt.MessageV1 {
	detail := &lumirpc.Faults{}
	size := 0
	for _, f := range all {
		path, message := bounded(string(f.Path)), bounded(f.Message)
		if size += len(path) + len(message) + 8; size > maxDetails {
			detail.Faults = append(detail.Faults, &lumirpc.Faults_Fault{Message: "there may be more that is wrong"})
			break
		}
		detail.Faults = append(detail.Faults, &lumirpc.Faults_Fault{Path: path, Message: message})
	}
	return protoadapt.MessageV1Of(detail)
}

// replacement makes a detail of as many paths as fit.
func replacement(all []lumi.Path) protoadapt.MessageV1 {
	detail := &lumirpc.Replacement{}
	size := 0
	for _, p := range all {
		path := bounded(string(p))
		if size += len(path) + 4; size > maxDetails {
			break
		}
		detail.Paths = append(detail.Paths, path)
	}
	return protoadapt.MessageV1Of(detail)
}

// bounded makes text that can be sent: not too long, and of valid characters.
func bounded(text string) string {
	const mark = "…"
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if len(text) <= maxMessage {
		return text
	}
	cut := maxMessage - len(mark)
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + mark
}
