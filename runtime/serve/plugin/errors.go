package plugin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/lumi-idl/lumi/runtime/internal/client"
)

// Error is an error of a plugin for which package lumi has no type. Its fields are Code, the gRPC status code (see
// provider.proto); Message, which is human-readable; and Crash. Depending on the code, it wraps [lumi.ErrNotFound],
// [context.Canceled], [context.DeadlineExceeded], [errors.ErrUnsupported], or nothing.
type Error = client.Error

// Crash describes how a plugin's process exited during a call: Status is the exit status or signal, such as "exit status 7",
// and Output is the end of the process's standard error. It is zero unless the exit caused the error.
type Crash = client.Crash

// awaitDeadline waits until ctx is done if its deadline is near. The plugin also enforces the deadline, possibly a little
// earlier, and callers check ctx.Err() after a call fails.
func awaitDeadline(ctx context.Context) {
	if at, ok := ctx.Deadline(); ok && time.Until(at) < time.Second {
		<-ctx.Done()
	}
}

// explain converts the error of a gRPC call with errorOf. If the call failed because the plugin's process exited, it adds the
// exit status and output.
func (c *connection) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	err = client.ErrorOf(status.Convert(err))
	e, plain := err.(*Error) //nolint:errorlint // Nothing wraps it.
	if plain && e.Code == codes.DeadlineExceeded {
		awaitDeadline(ctx)
		if strings.HasPrefix(e.Message, "stream terminated by RST_STREAM") {
			e.Message = context.DeadlineExceeded.Error() // The plugin noticed the deadline first.
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
	case <-time.After(time.Second): // The connection breaks before the process is reaped.
	}
	return e
}
