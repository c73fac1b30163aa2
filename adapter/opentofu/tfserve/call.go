package tfserve

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// call is a call of the engine for a resource type.
type call struct {
	*Server
	*resourceType
	ctx context.Context
	// at is the value in which faults are located.
	at tftypes.Value
}

// call runs f for a resource type and returns the diagnostics of its error and of what the author's code warned of.
func (s *Server) call(ctx context.Context, typeName string, f func(*call) error) []*tfprotov6.Diagnostic {
	t, err := s.resource(typeName)
	if err != nil {
		return diagnose(err, nil)
	}
	c := &call{Server: s, resourceType: t}
	return watched(ctx, func(ctx context.Context) []*tfprotov6.Diagnostic {
		c.ctx = ctx
		return diagnose(f(c), t.shape, c.at)
	})
}

// watched runs f and returns its diagnostics after the warnings of the author's code in it, each once. Other events are logged.
func watched(ctx context.Context, f func(context.Context) []*tfprotov6.Diagnostic) []*tfprotov6.Diagnostic {
	var mu sync.Mutex
	var warnings []*tfprotov6.Diagnostic
	seen := map[string]bool{}
	failures := f(lumi.WithEvents(ctx, func(e lumi.Event) {
		if e.Level < slog.LevelWarn {
			slog.Log(ctx, e.Level, e.Message)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if !seen[e.Message] {
			seen[e.Message] = true
			warnings = append(warnings, diagnostic(tfprotov6.DiagnosticSeverityWarning, e.Message))
		}
	}))
	mu.Lock()
	defer mu.Unlock()
	return append(warnings, failures...)
}

// diagnostic returns a diagnostic whose summary is the first line of a text.
func diagnostic(severity tfprotov6.DiagnosticSeverity, text string) *tfprotov6.Diagnostic {
	summary, detail, _ := strings.Cut(text, "\n")
	return &tfprotov6.Diagnostic{Severity: severity, Summary: summary, Detail: detail}
}

// diagnose returns the diagnostics of an error, which may be nil. Faults are located in values of the shape, which is nil if no
// property can be at fault.
func diagnose(err error, s *shape, values ...tftypes.Value) []*tfprotov6.Diagnostic {
	if err == nil {
		return nil
	}
	var invalid *lumi.InvalidError
	if s == nil || !errors.As(err, &invalid) {
		return []*tfprotov6.Diagnostic{diagnostic(tfprotov6.DiagnosticSeverityError, err.Error())}
	}
	var all []*tfprotov6.Diagnostic
	for _, fault := range invalid.Faults {
		all = append(all, &tfprotov6.Diagnostic{
			Severity: tfprotov6.DiagnosticSeverityError, Summary: "Invalid value", Detail: fault.Error(), Attribute: s.path(fault.Path, values...),
		})
	}
	return all
}

// value decodes a value of the resource type.
func (t *resourceType) value(v *tfprotov6.DynamicValue) (tftypes.Value, error) {
	return v.Unmarshal(t.typ)
}

// dynamicValue encodes a value of the resource type.
func (t *resourceType) dynamicValue(v tftypes.Value) (*tfprotov6.DynamicValue, error) {
	d, err := tfprotov6.NewDynamicValue(t.typ, v)
	return &d, err
}

// null is the value of the resource type for a resource that does not exist.
func (t *resourceType) null() tftypes.Value { return tftypes.NewValue(t.typ, nil) }

// parts returns the attributes of an object, or nil if it is null or unknown.
func parts(v tftypes.Value) map[string]tftypes.Value {
	attributes, _ := native(v).(map[string]tftypes.Value)
	return attributes
}

// idOf returns the id in a state, or "" if the state is null.
func idOf(state tftypes.Value) lumi.ID {
	id, _ := native(parts(state)[idName]).(string)
	return lumi.ID(id)
}
