// Package pulumiserve serves the providers of a plugin to Pulumi's engine.
//
//	func main() { pulumiserve.Main(storage.Plugin(), lumischema.JSON) }
//
// The binary must be named pulumi-resource-storage. Programs use an SDK that Pulumi generates from the schema of package
// pulumischema, which the plugin returns, too. Calls are handled as by [serve.Main]; docs/engines.md describes the differences.
package pulumiserve

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"

	"github.com/lumi-idl/lumi/gen/pulumischema"
	"github.com/lumi-idl/lumi/runtime/serve"
)

// The exit codes of a plugin.
const (
	exitStopped = 0 // stopped by the engine, or printed help
	exitFailed  = 1 // failed to serve, or calls did not return after they were canceled
	exitMisuse  = 2 // not started by an engine, or invalid resources
)

// maxMessage is the maximum size of a message, which is the engine's, too.
const maxMessage = 400 << 20

// Main serves the plugin until the engine is gone, then exits. Call it last in main; it does not return. The schema is the constant
// of the generated package lumischema. Errors and slog output are written to standard error. The command-line flags --help
// and --attach are supported.
func Main(p serve.Plugin, schemaJSON string) {
	os.Exit(run(p, schemaJSON, os.Args[1:], os.Stdout, os.Stderr))
}

func run(p serve.Plugin, schemaJSON string, args []string, stdout, stderr io.Writer) int {
	plugin := pulumischema.Name(p.Package)
	name := "pulumi-resource-" + plugin
	address := "" // the last argument, after flags for tracing and logging
	if len(args) > 0 {
		address = args[len(args)-1]
	}
	switch address {
	case "":
		fmt.Fprintf(stderr, "%s: this is a plugin and cannot be run by hand: Pulumi starts it and passes it the address of its engine;"+
			" try --help\n", name)
		return exitMisuse
	case "-h", "-help", "--help":
		fmt.Fprintf(stdout, help, name, p.Package, plugin, name, plugin)
		return exitStopped
	case "--attach":
		address = ""
	}
	s, err := newServer(p, schemaJSON)
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return exitMisuse
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(s.Masked(stderr), nil)))
	if err := s.serve(address, stdout); err != nil {
		slog.Error("failed", "error", err)
		return exitFailed
	}
	return exitStopped
}

const help = `%s is a Pulumi plugin: the provider of package %q. It creates, reads, updates and deletes
resources for Pulumi's engine, which finds the plugin by its name, starts it, and calls it over gRPC. When the
engine exits, so does the plugin. Install it with

  pulumi plugin install resource %s 1.0.0 --file %s

  --help      print this help
  --attach    wait for an engine that runs with PULUMI_DEBUG_PROVIDERS=%s:PORT, for debuggers
`

// serve serves the engine at an address, or the one that attaches itself, until it is gone or a signal ends the process.
func (s *server) serve(address string, stdout io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := s.connect(address); err != nil {
		return err
	}
	ended, terminated := make(chan error, 1), make(chan os.Signal, 1)
	// Catch hangups, which the engine handles, since child processes inherit ignored signals.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGHUP)
	// The engine interrupts a plugin that it no longer needs, and waits 5 seconds before it kills it. A terminal does not interrupt
	// plugins, since each is in a process group of its own.
	signal.Notify(terminated, syscall.SIGTERM, os.Interrupt)
	if e := s.engine.Load(); e != nil {
		go func() {
			watch(e)
			ended <- nil
		}()
	}
	g := grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage))
	pulumirpc.RegisterResourceProviderServer(g, s)
	go func() { ended <- g.Serve(listener) }()
	if _, err := fmt.Fprintln(stdout, listener.Addr().(*net.TCPAddr).Port); err != nil {
		return err
	}
	select {
	case err = <-ended:
	case <-terminated:
	}
	s.stop()
	return cmp.Or(err, s.Close())
}
