package cloud

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// TestTimeouts tells timeouts of a request from the end of the call's context.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	operation := func(err error) error {
		return &smithy.OperationError{ServiceID: "S3", OperationName: "PutObject", Err: err}
	}
	timeout := operation(&smithyhttp.RequestSendError{Err: os.ErrDeadlineExceeded})
	late := operation(&smithyhttp.RequestSendError{Err: context.DeadlineExceeded})
	ended := operation(&smithy.CanceledError{Err: context.DeadlineExceeded})
	const unknown = "; the outcome of PutObject is unknown: check at Amazon whether it took effect"
	for name, test := range map[string]struct {
		err   error
		want  string
		retry bool
	}{
		"dial timeout":        {timeout, "no answer from Amazon: i/o timeout", true},
		"HTTP timeout":        {late, "no answer from Amazon: context deadline exceeded", true},
		"after it was sent":   {&unknownOutcome{"PutObject", late}, "no answer from Amazon: context deadline exceeded" + unknown, false},
		"end of the call":     {ended, ended.Error(), false},
		"end after a failure": {&unknownOutcome{"PutObject", ended}, "canceled, context deadline exceeded" + unknown, false},
		"slow upload": {
			operation(&smithy.GenericAPIError{Code: "RequestTimeout", Message: "Your socket connection was idle."}),
			"RequestTimeout: Your socket connection was idle", true,
		},
	} {
		err := Error(test.err)
		if err == nil || err.Error() != test.want || errors.As(err, new(*lumi.RetryError)) != test.retry {
			t.Errorf("%s: got  %v\nwant %s, worth a retry: %v", name, err, test.want, test.retry)
		}
	}
}
