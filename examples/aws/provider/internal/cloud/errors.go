package cloud

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// Error converts an SDK error to an error that wraps:
//
//   - [lumi.ErrNotFound] if the resource does not exist;
//   - [lumi.UncertainError] if no attempt succeeded, but the request may have taken effect;
//   - [lumi.RetryError] if the request had no effect and may succeed later.
//
// It is idempotent, and returns context errors unchanged. All other errors lose the text added by the SDK.
func Error(err error) error {
	if err == nil {
		return nil
	}
	if lumi.Meaning(err) != nil {
		return err
	}
	said := err
	var api smithy.APIError
	var operation *smithy.OperationError
	var send *smithyhttp.RequestSendError
	switch {
	case errors.As(err, &api):
		said = &failure{api.ErrorCode(), api.ErrorMessage(), err}
	case errors.As(err, &send):
		said = fmt.Errorf("no response from AWS: %w", send.Err)
	case errors.As(err, &operation):
		said = operation.Err
	}
	var unknown *unknownOutcome
	switch {
	case isNotFound(err):
		return fmt.Errorf("%w: %w", lumi.ErrNotFound, said)
	case errors.As(err, &unknown):
		return lumi.Uncertain(fmt.Errorf("%s: %w", unknown.operation, said))
	case throttled(err), unanswered(err), Is(err, "DependencyViolation", "OperationAborted", "RequestTimeout"):
		return &lumi.RetryError{Err: said} // includes request timeouts, which also match context.DeadlineExceeded
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return said
}

// failure is an error response without the text added by the SDK.
type failure struct {
	code, message string
	cause         error
}

func (f *failure) Error() string {
	if f.message == "" {
		return f.code
	}
	return f.code + ": " + strings.TrimSuffix(f.message, ".")
}

func (f *failure) Unwrap() error { return f.cause }

// Is reports whether err is an error response with one of the given codes.
func Is(err error, codes ...string) bool {
	var api smithy.APIError
	if errors.As(err, &api) {
		for _, code := range codes {
			if api.ErrorCode() == code {
				return true
			}
		}
	}
	return false
}

func throttled(err error) bool {
	return retry.ThrottleErrorCode{Codes: retry.DefaultThrottleErrorCodes}.IsErrorThrottle(err).Bool()
}

// isNotFound reports whether err is a response from EC2 or S3 for a missing resource, such as InvalidVpcID.NotFound.
func isNotFound(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && strings.HasSuffix(api.ErrorCode(), ".NotFound") ||
		Is(err, "NoSuchBucket", "NoSuchKey", "NotFound")
}

// FaultAt returns a fault at the given path if err is a response with one of the codes. Otherwise, or if an earlier attempt
// may have taken effect, it returns Error(err).
func FaultAt(err error, path lumi.Path, codes ...string) error {
	var api smithy.APIError
	if Is(err, codes...) && errors.As(err, &api) && !Unknown(err) {
		return lumi.Fault{Path: path, Message: (&failure{api.ErrorCode(), api.ErrorMessage(), err}).Error()}
	}
	return Error(err)
}
