package serve

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/internal/readable"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Limits on the size of errors. Errors are sent as metadata, which some gRPC implementations limit to 64 KiB: in Node, a call with larger
// metadata never returns. The message is sent twice, once percent-encoded, which may triple its size. Details are
// base64-encoded.
const (
	maxMessage = 8 << 10
	maxDetails = 16 << 10
	// maxScanned is the number of bytes of a text that are searched for secrets. The rest is dropped, and so are up to
	// maxCut bytes before it, which may be the start of a secret.
	maxScanned = 256 << 10
	maxCut     = 16 << 10
)

// refusal is the error of a call that was rejected before reaching the provider. It has its own type, since an author's error
// may also contain a status, which was returned by another service.
type refusal struct{ *status.Status }

func (r refusal) Error() string { return r.Message() }

func refuse(code codes.Code, format string, args ...any) refusal {
	return refusal{status.New(code, bounded(fmt.Sprintf(format, args...)))}
}

// statusOf returns the status for an error returned by a provider in the call that ctx belongs to. It is never OK.
func statusOf(ctx context.Context, err error) (s *status.Status) {
	defer func() {
		if v := recover(); v != nil {
			s = newStatus(codes.Unknown, masked(ctx, wire.TextOf(err)))
		}
	}()
	if err == nil {
		return status.New(codes.Unknown, "failed without a reason from the provider")
	}
	if refused, ok := err.(refusal); ok { //nolint:errorlint // It is not wrapped.
		return refused.Status
	}
	err = lumi.Invalid(err) // A partial failure may wrap faults.
	meaning := lumi.Meaning(err)
	if invalid, ok := meaning.(*lumi.InvalidError); ok { //nolint:errorlint // A meaning is not wrapped.
		detail := faults(ctx, invalid.Faults)
		return newStatus(codes.InvalidArgument, bounded(listed(detail)), protoadapt.MessageV1Of(detail))
	}
	text := masked(ctx, wire.TextOf(err))
	switch m := meaning.(type) { //nolint:errorlint // A meaning is not wrapped.
	case *lumi.ReplaceError:
		return newStatus(codes.FailedPrecondition, text, replacement(ctx, m))
	case *lumi.OutputError:
		return newStatus(codes.Internal, text, protoadapt.MessageV1Of(faults(ctx, outputFaults(m))))
	case *lumi.RetryError:
		return newStatus(codes.Unavailable, text, retryInfo(m))
	case *lumi.UncertainError:
		return newStatus(codes.Aborted, text, protoadapt.MessageV1Of(&lumirpc.Uncertain{}))
	}
	switch {
	case meaning == lumi.ErrNotFound: //nolint:errorlint // A meaning is not wrapped.
		return newStatus(codes.NotFound, text)
	case ctx.Err() == nil: // A context error is then from one of the author's own contexts.
		return newStatus(codes.Unknown, text)
	case errors.Is(err, context.DeadlineExceeded):
		return newStatus(codes.DeadlineExceeded, text)
	case errors.Is(err, context.Canceled):
		return newStatus(codes.Canceled, text)
	}
	return newStatus(codes.Unknown, text)
}

func newStatus(code codes.Code, text string, details ...protoadapt.MessageV1) *status.Status {
	s := status.New(code, text)
	if detailed, err := s.WithDetails(details...); err == nil {
		return detailed
	}
	return s // impossible, since all details are valid messages
}

// outputFaults returns the faults of e, or a placeholder if there are none, since clients recognize the error by its faults.
func outputFaults(e *lumi.OutputError) []lumi.Fault {
	if e == nil || len(e.Faults) == 0 {
		return []lumi.Fault{{Message: "no details from the provider"}}
	}
	return e.Faults
}

// faults returns a detail with as many faults as fit within maxDetails.
func faults(ctx context.Context, all []lumi.Fault) *lumirpc.Faults {
	detail := &lumirpc.Faults{}
	size := 0
	for _, f := range all {
		path, message := pathOf(ctx, f.Path), masked(ctx, f.Message)
		if size += len(path) + len(message) + 8; size > maxDetails {
			detail.Faults = append(detail.Faults, &lumirpc.Faults_Fault{Message: "there may be more errors"})
			break
		}
		detail.Faults = append(detail.Faults, &lumirpc.Faults_Fault{Path: path, Message: message})
	}
	return detail
}

// listed formats the faults in a detail, one per line.
func listed(detail *lumirpc.Faults) string {
	e := &lumi.InvalidError{}
	for _, f := range detail.GetFaults() {
		e.Faults = append(e.Faults, lumi.Fault{Path: lumi.Path(f.GetPath()), Message: f.GetMessage()})
	}
	return e.Error()
}

// replacement returns a detail with as many paths of e as fit within maxDetails. e may be nil.
func replacement(ctx context.Context, e *lumi.ReplaceError) protoadapt.MessageV1 {
	detail := &lumirpc.Replacement{}
	if e == nil {
		return protoadapt.MessageV1Of(detail)
	}
	size := 0
	for _, p := range e.Paths {
		path := pathOf(ctx, p)
		if size += len(path) + 4; size > maxDetails {
			break
		}
		detail.Paths = append(detail.Paths, path)
	}
	return protoadapt.MessageV1Of(detail)
}

func retryInfo(e *lumi.RetryError) protoadapt.MessageV1 {
	if e == nil {
		return &errdetails.RetryInfo{}
	}
	return &errdetails.RetryInfo{RetryDelay: durationpb.New(e.After)}
}

// masked returns a text of the author's code with secrets masked, truncated to maxMessage bytes.
func masked(ctx context.Context, text string) string {
	text, cut := wire.Mask(text[:min(len(text), maxScanned)], wire.SecretsOf(ctx)), len(text) > maxScanned
	if cut { // The end of the text may be the start of a secret.
		text = text[:max(len(text)-maxCut, strings.LastIndex(text, wire.Masked)+len(wire.Masked))] + "…"
	}
	return bounded(text)
}

// pathOf returns a path with secret keys masked, truncated to maxMessage bytes.
func pathOf(ctx context.Context, p lumi.Path) string {
	if len(p) > maxScanned {
		p = "…"
	}
	return bounded(wire.SecretsOf(ctx).Path(string(p)))
}

// bounded truncates a text to maxMessage bytes and replaces invalid UTF-8.
func bounded(text string) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if len(text) <= maxMessage {
		return text
	}
	return readable.Shorten(text, maxMessage-len("…"))
}
