package cloud

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// unknownOutcome is the error of a failed call if any of its attempts may have taken effect. It is needed because the last
// attempt's error is inconclusive: the first response may have been lost before the second attempt was throttled.
type unknownOutcome struct {
	operation string
	last      error
}

func (u *unknownOutcome) Error() string { return u.last.Error() }

func (u *unknownOutcome) Unwrap() error { return u.last }

// Unknown reports whether err is the error of a call that may have taken effect, because the server failed or the response
// was lost.
func Unknown(err error) bool { return errors.As(err, new(*unknownOutcome)) }

// attemptsKey is the context key of an *atomic.Bool, which is set to true if an attempt may have taken effect.
type attemptsKey struct{}

// watchAttempts adds middleware to stack that makes a failed call return an *unknownOutcome if any of its attempts may have
// taken effect.
func watchAttempts(stack *middleware.Stack) error {
	err := stack.Initialize.Add(middleware.InitializeMiddlewareFunc("LumiOutcome", watchCall), middleware.After)
	if err != nil {
		return err
	}
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("LumiAttempt", watchAttempt), middleware.Before)
}

func watchCall(
	ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
) (middleware.InitializeOutput, middleware.Metadata, error) {
	var unknown atomic.Bool
	out, metadata, err := next.HandleInitialize(context.WithValue(ctx, attemptsKey{}, &unknown), in)
	if operation := awsmiddleware.GetOperationName(ctx); err != nil && unknown.Load() && !isRead(operation) {
		err = &unknownOutcome{operation, err}
	}
	return out, metadata, err
}

// watchAttempt is middleware that runs once per attempt, after signing. An attempt without a connection has no effect,
// since nothing was sent.
func watchAttempt(
	ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
) (middleware.DeserializeOutput, middleware.Metadata, error) {
	var connected atomic.Bool
	out, metadata, err := next.HandleDeserialize(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	}), in)
	if unknown, ok := ctx.Value(attemptsKey{}).(*atomic.Bool); ok && connected.Load() && unanswered(err) {
		unknown.Store(true)
	}
	return out, metadata, err
}

// isRead reports whether an operation is read-only.
func isRead(operation string) bool {
	for _, prefix := range []string{"AssumeRole", "Describe", "Get", "Head", "List"} {
		if strings.HasPrefix(operation, prefix) {
			return true
		}
	}
	return false
}

// unanswered reports whether err is the error of a request without a conclusive response.
func unanswered(err error) bool {
	if throttled(err) {
		return false
	}
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) && response.HTTPStatusCode() >= http.StatusInternalServerError {
		return response.HTTPStatusCode() != http.StatusNotImplemented
	}
	return errors.As(err, new(*smithyhttp.RequestSendError)) || errors.As(err, new(*smithy.DeserializationError))
}
