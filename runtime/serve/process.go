package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"github.com/lumi-idl/lumi/runtime/lumirpc"
)

// The exit codes of a plugin.
const (
	exitStopped = 0 // stopped by the engine, or printed help or the version
	exitFailed  = 1 // failed to serve, or calls did not return after they were canceled
	exitMisuse  = 2 // not started by an engine, or invalid resources
)

// maxHeaders is the maximum size of a call's metadata, which is read before authentication. gRPC's default is 16 MiB.
const maxHeaders = 16 << 10

const (
	// grace is the maximum time for canceled calls to return.
	grace = 10 * time.Second
	// graceAbandoned is the maximum time for canceled calls to return if no caller is waiting for them.
	graceAbandoned = 500 * time.Millisecond
)

// service is implemented by plugins of providers and of provisioners.
type service interface {
	// executable returns the name of the plugin's executable.
	executable() string
	// label returns the first attribute of each log line. Its key is "provider" or "provisioner".
	label() slog.Attr
	// ownVersion returns the version set by the author, or "" if there is none.
	ownVersion() string
	// about returns a description of the plugin for --help.
	about() string
	// validate returns an error with all mistakes in the plugin's definition.
	validate() error
	// server returns a function that registers the gRPC service, and an interceptor that rejects calls before the
	// handshake.
	server(e *events, stop context.CancelCauseFunc) (register func(grpc.ServiceRegistrar), inTurn grpc.UnaryServerInterceptor)
}

func run(s service) int {
	name, secret := s.executable(), os.Getenv(lumirpc.SecretVariable)
	if secret == "" && answer(os.Stdout, s, os.Args[1:]) {
		return exitStopped
	}
	secrets := newSecrets()
	log := newLogger(maskedLog{secrets, os.Stderr}, os.Getenv("LUMI_LOG"), s.label())
	slog.SetDefault(log)
	if err := s.validate(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return exitMisuse
	}
	if secret == "" {
		fmt.Fprintf(os.Stderr, "%s: this is a plugin and cannot be run by hand: an engine such as lumi starts it and passes it a secret in"+
			" %s; use package runtime/providertest to test it, or package runtime/serve/plugin to call it from Go\n", name, lumirpc.SecretVariable)
		return exitMisuse
	}
	if err := os.Unsetenv(lumirpc.SecretVariable); err != nil { // Child processes must not inherit the secret.
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return exitFailed
	}
	if err := serve(s, secret, log, secrets); err != nil {
		log.Error("failed", "error", err)
		return exitFailed
	}
	return exitStopped
}

func newLogger(to io.Writer, level string, label slog.Attr) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelInfo
	}
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: l})).With(label)
}

// serve serves the plugin until it is stopped. It returns an error if it cannot serve, or if calls do not end.
func serve(what service, secret string, log *slog.Logger, s *secrets) error {
	// Do not use localhost: it may have several addresses, and another process may use the port on one of them.
	loopback, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(context.Background())
	stopOnSignal(stop)
	wakeWithoutParent()
	calls, listener := newCalls(ctx, log, s), newListener(loopback, secret)
	server := newGRPC(what, calls, stop, grpc.InTapHandle(listener.authenticate))
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	if _, err := fmt.Fprintln(os.Stdout, listener.Addr().(*net.TCPAddr).Port); err != nil {
		return err
	}
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
		log.Debug("stopping", "reason", context.Cause(ctx))
		listener.closePending()
		return shutDown(server, calls)
	}
}

// newGRPC returns a gRPC server for a service. calls tracks its calls, and stop stops the plugin.
func newGRPC(s service, calls *calls, stop context.CancelCauseFunc, options ...grpc.ServerOption) *grpc.Server {
	calls.of = s.label().Key
	register, inTurn := s.server(calls.events, stop)
	server := grpc.NewServer(append(options,
		grpc.ChainUnaryInterceptor(calls.intercept, inTurn),
		grpc.MaxHeaderListSize(maxHeaders),
		grpc.MaxRecvMsgSize(lumirpc.MaxMessageSize),
		grpc.MaxSendMsgSize(lumirpc.MaxMessageSize),
	)...)
	register(server)
	return server
}

// stopOnSignal arranges for stop to be called on SIGTERM, and when the parent closes standard input or dies. It makes the
// process survive SIGPIPE, SIGHUP, and interrupts.
func stopOnSignal(stop context.CancelCauseFunc) {
	// Once the parent is dead, writing to the log raises SIGPIPE, which must not kill the process while a provider is
	// cleaning up. Catch the signal instead of ignoring it, since child processes inherit ignored signals.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	// A terminal sends interrupts and hangups to all of its processes. The parent handles them.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGHUP)
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	go func() {
		<-terminated
		stop(errors.New("the process was terminated"))
	}()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // An error also means that the parent is gone.
		stop(errors.New("the parent closed standard input"))
	}()
}

// shutDown waits until the calls in flight, which have been canceled, have returned and their responses are sent. It returns
// an error if they do not do so in time.
func shutDown(server *grpc.Server, calls *calls) error {
	ended := make(chan struct{})
	go func() {
		server.GracefulStop()
		close(ended)
	}()
	timeout := time.After(grace)
	select {
	case <-calls.idle:
	case <-timeout:
		return errHanging
	case <-calls.abandoned():
		select {
		case <-calls.idle:
		case <-time.After(graceAbandoned):
			return errHanging
		}
	}
	if !calls.events.finish() {
		server.Stop() // Do not wait for an engine that does not read events.
	}
	select {
	case <-ended:
		return nil
	case <-timeout:
		return errors.New("the engine did not read the responses to its calls")
	}
}

var errHanging = errors.New("some calls did not return after they were canceled")
