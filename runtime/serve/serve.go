// Package serve is what a provider's main needs: it serves the generated providers of one package to the engine that
// started the process.
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
// The binary is called lumi-resource-aws. It is of use only to an engine that speaks its protocol, which
// docs/protocol.md and provider.proto define; package plugin is the engine's side of it.
//
// What the author's code does wrong stays within one call: a panic becomes an error, with its stack on standard error,
// and so does the end of the goroutine. That cannot help against a panic in a goroutine that the author started.
// Contexts are canceled when the caller does not wait any more, and when the plugin stops. Secrets of a call are masked
// in its errors and in the log; docs/providers/secrets.md has the limits.
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
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Plugin describes a plugin: the providers of all resource types of one IDL package, and what configures them.
type Plugin struct {
	// Package is the name of the package that the resource types belong to, such as "aws".
	Package string
	// Version is the plugin's own, for people. It may be empty.
	Version string
	// Configure is called once, before any call about a resource. It is made by the function [Configure], and nil where
	// the IDL has no idl.Config.
	Configure Configurator
	// Resources are the providers by the types that they serve.
	Resources map[tokens.Type]lumi.ResourceProvider
}

// Configurator takes the provider's configuration as it was sent. If that is wrong, the error is a
// *[lumi.InvalidError].
type Configurator func(ctx context.Context, properties lumi.Bag) error

// Configure makes a [Configurator] of a function that takes the struct which is generated for the IDL's idl.Config. An
// error that is a [lumi.Fault], or wraps or joins one, says that the configuration is wrong.
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

// Main serves the plugin until the process that started this one lets go of it, and ends the process. It must be all
// that a main function does in the end. Problems go to standard error, as does what is logged with slog; LUMI_LOG=debug
// in the environment logs every call. A plugin that is started by hand answers --help and --version.
func Main(p Plugin) { os.Exit(run(&p)) }

func (p *Plugin) executable() string {
	return "lumi-resource-" + strings.ReplaceAll(p.Package, "/", "_")
}

func (p *Plugin) label() slog.Attr { return slog.String("provider", p.Package) }

func (p *Plugin) ownVersion() string { return p.Version }

func (p *Plugin) about() string {
	return fmt.Sprintf(`provider of package %q. It creates, reads, updates and
deletes resources for an engine such as lumi. Resource types: %d.`, p.Package, len(p.Resources))
}

func (p *Plugin) server(e *events, stop context.CancelCauseFunc) (func(grpc.ServiceRegistrar), grpc.UnaryServerInterceptor) {
	s := newServer(*p, e, stop)
	return func(to grpc.ServiceRegistrar) { lumirpc.RegisterResourceProviderServer(to, s) }, s.inTurn
}

// validate reports all that the author registered wrongly.
func (p *Plugin) validate() error {
	var problems []error
	if err := tokens.CheckPackage(p.Package); err != nil {
		problems = append(problems, fmt.Errorf("package %w", err))
	}
	if len(p.Resources) == 0 {
		problems = append(problems, errors.New("no resources"))
	}
	for _, token := range slices.Sorted(maps.Keys(p.Resources)) {
		if err := p.validateResource(token, p.Resources[token]); err != nil {
			problems = append(problems, err)
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("invalid resources:\n%w", errors.Join(problems...))
	}
	return nil
}

func (p *Plugin) validateResource(token tokens.Type, r lumi.ResourceProvider) error {
	if _, err := tokens.Parse(string(token)); err != nil {
		return fmt.Errorf("type %w", err)
	}
	if token.Package() != p.Package {
		return fmt.Errorf("%s: the type is not of package %q", token, p.Package)
	}
	if v := reflect.ValueOf(r); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return fmt.Errorf("%s: the provider is nil", token)
	}
	generated, ok := r.(interface{ Token() tokens.Type })
	switch {
	case !ok || generated.Token() == token:
		return nil
	case generated.Token() == "":
		return fmt.Errorf("%s: the provider has no operations; make it with New%sProvider", token, token.Name())
	}
	return fmt.Errorf("%s: the provider is for type %s", token, generated.Token())
}
