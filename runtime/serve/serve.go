// Package serve implements plugins. It serves the generated providers of one package to the engine that started the process.
//
//	func main() {
//		cloud := new(aws.Cloud)
//		serve.Main(serve.Plugin{
//			Package:   "aws",
//			Configure: serve.Configure(cloud.Configure), // func(context.Context, *aws.Config) error
//			Resources: map[tokens.Type]lumi.ResourceProvider{
//				ec2.SecurityGroup: ec2.NewSecurityGroupProvider(ec2.NewSecurityGroups(cloud)),
//			},
//		})
//	}
//
// The binary must be named lumi-resource-aws. Package plugin is the client. docs/protocol.md and provider.proto describe the
// protocol.
//
// A panic in the author's code fails only the call it happened in, and its stack is printed to standard error. The same
// applies to runtime.Goexit. Panics in goroutines started by the author still crash the process. The context of a call is
// canceled when the caller stops waiting and when the plugin stops. Secrets of a call are masked in its errors and in the
// log; docs/providers/secrets.md describes the limits.
package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/grpc"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/internal/bagrpc"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Plugin is a plugin with the providers of one IDL package's resource types, and its functions.
type Plugin struct {
	// Package is the package of the resource types and functions, such as "aws".
	Package string
	// Version is the version of the plugin, for display. It may be empty.
	Version string
	// Configure is called before any call on a resource or of a function. Create it with [Configure]. It must be nil if the IDL declares
	// no idl.Config.
	Configure Configurator
	// Resources maps resource types to their providers.
	Resources map[tokens.Type]lumi.ResourceProvider
	// Functions maps the tokens of functions to the functions.
	Functions map[tokens.Type]lumi.Function
}

// Configurator configures a provider. If the configuration is invalid, it returns a *[lumi.InvalidError].
type Configurator func(ctx context.Context, properties lumi.Bag) error

// Configure returns a [Configurator] that decodes the configuration into the struct generated for the IDL's idl.Config and
// passes it to configure. An error of configure that is, wraps, or joins a [lumi.Fault] means that the configuration is
// invalid.
func Configure[T any, P interface {
	*T
	lumi.Object
}](configure func(ctx context.Context, config P) error) Configurator {
	return func(ctx context.Context, properties lumi.Bag) error {
		config := P(new(T))
		if err := lumi.DecodeContext(ctx, properties, config); err != nil {
			return err
		}
		return lumi.Invalid(configure(ctx, config))
	}
}

// Main serves the plugin until the parent closes its standard input, then exits. Call it last in main; it does not
// return. Errors and slog output are written to standard error. If the environment variable LUMI_LOG is "debug", each call is
// logged. The command-line flags --help and --version are supported.
func Main(p Plugin) { os.Exit(run(&p)) }

func (p *Plugin) executable() string {
	return "lumi-resource-" + strings.ReplaceAll(p.Package, "/", "_")
}

func (p *Plugin) label() slog.Attr { return slog.String("provider", p.Package) }

func (p *Plugin) ownVersion() string { return p.Version }

func (p *Plugin) about() string {
	return fmt.Sprintf(`provider of package %q. It creates, reads, updates and
deletes resources for an engine such as lumi. Resource types: %d. Functions: %d.`, p.Package, len(p.Resources), len(p.Functions))
}

func (p *Plugin) server(e *events, stop context.CancelCauseFunc) (func(grpc.ServiceRegistrar), grpc.UnaryServerInterceptor) {
	s := newServer(*p, e, stop)
	return func(to grpc.ServiceRegistrar) { bagrpc.Register(to, s) }, s.inTurn
}

// validate implements [service].
func (p *Plugin) validate() error {
	var problems []error
	if err := tokens.CheckPackage(p.Package); err != nil {
		problems = append(problems, fmt.Errorf("package %w", err))
	}
	if len(p.Resources)+len(p.Functions) == 0 {
		problems = append(problems, errors.New("no resources"))
	}
	for _, token := range slices.Sorted(maps.Keys(p.Resources)) {
		if err := p.validateServed(token, p.Resources[token], "provider"); err != nil {
			problems = append(problems, err)
		}
	}
	for _, token := range slices.Sorted(maps.Keys(p.Functions)) {
		err := p.validateServed(token, p.Functions[token], "function")
		if _, both := p.Resources[token]; both && err == nil {
			err = fmt.Errorf("%s: is both a resource type and a function", token)
		}
		if err != nil {
			problems = append(problems, err)
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("invalid resources:\n%w", errors.Join(problems...))
	}
	return nil
}

// validateServed checks what the plugin serves under a token: a resource provider or a function, which is named by what.
func (p *Plugin) validateServed(token tokens.Type, served any, what string) error {
	if _, err := tokens.Parse(string(token)); err != nil {
		return fmt.Errorf("type %w", err)
	}
	if token.Package() != p.Package {
		return fmt.Errorf("%s: the type is not of package %q", token, p.Package)
	}
	if v := reflect.ValueOf(served); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return fmt.Errorf("%s: the %s is nil", token, what)
	}
	generated, ok := served.(interface{ Token() tokens.Type })
	switch {
	case !ok || generated.Token() == token:
		return nil
	case generated.Token() == "":
		return fmt.Errorf("%s: the provider has no operations; make it with New%sProvider", token, token.Name())
	}
	return fmt.Errorf("%s: the %s is for type %s", token, what, generated.Token())
}
