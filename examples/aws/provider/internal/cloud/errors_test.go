package cloud

import (
	"context"
	"os"
	"reflect"
	"testing"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	lumi "github.com/lumi-idl/lumi/runtime"
)

func TestTimeouts(t *testing.T) {
	t.Parallel()
	operation := func(err error) error {
		return &smithy.OperationError{ServiceID: "S3", OperationName: "PutObject", Err: err}
	}
	timeout := operation(&smithyhttp.RequestSendError{Err: os.ErrDeadlineExceeded})
	late := operation(&smithyhttp.RequestSendError{Err: context.DeadlineExceeded})
	ended := operation(&smithy.CanceledError{Err: context.DeadlineExceeded})
	for name, test := range map[string]struct {
		err     error
		want    string
		meaning error
	}{
		"dial timeout": {timeout, "no response from AWS: i/o timeout", &lumi.RetryError{}},
		"HTTP timeout": {late, "no response from AWS: context deadline exceeded", &lumi.RetryError{}},
		"after it was sent": {
			&unknownOutcome{"PutObject", late}, "PutObject: no response from AWS: context deadline exceeded",
			&lumi.UncertainError{},
		},
		"end of the call": {ended, ended.Error(), nil},
		"end after a failure": {
			&unknownOutcome{"PutObject", ended}, "PutObject: canceled, context deadline exceeded", &lumi.UncertainError{},
		},
		"slow upload": {
			operation(&smithy.GenericAPIError{Code: "RequestTimeout", Message: "Your socket connection was idle."}),
			"RequestTimeout: Your socket connection was idle", &lumi.RetryError{},
		},
	} {
		err := Error(test.err)
		meaning := lumi.Meaning(err)
		if err == nil || err.Error() != test.want || reflect.TypeOf(meaning) != reflect.TypeOf(test.meaning) {
			t.Errorf("Error(%s) = %v (%T)\nwant %s (%T)", name, err, meaning, test.want, test.meaning)
		}
		if again := Error(err); again == nil || again.Error() != err.Error() {
			t.Errorf("Error(Error(%s)) = %v, want %v", name, again, err)
		}
	}
}
