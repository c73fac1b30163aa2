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

// Error says in Lumi's words what one of Amazon's errors means, and in Amazon's own what happened:
//
//   - what does not exist is [lumi.ErrNotFound];
//   - a failure that may pass, and has certainly changed nothing, is a [lumi.RetryError];
//   - any other is a failure, which says so where the outcome is unknown.
func Error(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
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
		said = &silence{send.Err, err}
	case errors.As(err, &operation):
		said = operation.Err
	}
	var unknown *unknownOutcome
	switch {
	case isNotFound(err):
		return fmt.Errorf("%w: %w", lumi.ErrNotFound, said)
	case errors.As(err, &unknown):
		return fmt.Errorf("%w; the outcome of %s is unknown: check at Amazon whether it took effect", said, unknown.operation)
	case throttled(err), unanswered(err), Is(err, "DependencyViolation", "OperationAborted"):
		return &lumi.RetryError{Err: said}
	}
	return said
}

// AfterChange turns a [lumi.RetryError] of [Error] into a plain error, where an earlier request changed something.
func AfterChange(err error) error {
	var retry *lumi.RetryError
	if errors.As(err, &retry) {
		return fmt.Errorf("%w; some of the work was done before", retry.Err)
	}
	return err
}

// failure is an error of Amazon's without what its SDK says around it.
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

// silence is a request that was not answered.
type silence struct{ reason, cause error }

func (s *silence) Error() string { return "no answer from Amazon: " + s.reason.Error() }

func (s *silence) Unwrap() error { return s.cause }

// Is reports whether an error is one that Amazon calls by one of the codes.
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

// isNotFound knows the codes of EC2, such as InvalidVpcID.NotFound, and those of S3.
func isNotFound(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && strings.HasSuffix(api.ErrorCode(), ".NotFound") ||
		Is(err, "NoSuchBucket", "NoSuchKey", "NotFound")
}

// FaultAt makes a fault of an error with one of the codes, since the property at the path is its cause; of any other it
// makes what [Error] does.
func FaultAt(err error, path lumi.Path, codes ...string) error {
	var api smithy.APIError
	if Is(err, codes...) && errors.As(err, &api) {
		return lumi.Fault{Path: path, Message: (&failure{api.ErrorCode(), api.ErrorMessage(), err}).Error()}
	}
	return Error(err)
}
