package yaql

import (
	"fmt"
	"maps"
	"math"
	"strings"

	"github.com/lumi-idl/lumi/internal/suggest"
)

// Options configures the limits and conversions of evaluations.
type Options struct {
	// LimitIterators is the maximum number of items of an iteration.
	LimitIterators int
	// MemoryQuota limits the size of each value in bytes. The total size of variables and of arguments of pending calls
	// is limited to a small multiple of it. The maximum is 1 TiB.
	MemoryQuota int64
	// Depth limits the nesting of calls, including operators. The maximum is 1,000.
	Depth int
	// ConvertTuplesToLists and ConvertSetsToLists convert tuples and sets in results to lists.
	ConvertTuplesToLists, ConvertSetsToLists bool
	// IterableDicts allows functions to iterate over the keys of dictionaries.
	IterableDicts bool
	// ConvertInputData converts the data passed to Evaluate with [FromGo]. If it is not set, the data must be a value
	// of this package.
	ConvertInputData bool
	// ConvertOutputData replaces iterators in results with lists.
	ConvertOutputData bool
	// Delegates enables calls of function values, as in $f(1), and the functions lambda and #call.
	Delegates bool
	// TypeNames enables the operators prefix:Name, :Name, and is. The host must register #operator_:,
	// #unary_operator_:, and #operator_is.
	TypeNames bool
}

// DefaultOptions returns the default options.
func DefaultOptions() Options {
	return Options{
		LimitIterators: 1_000_000, MemoryQuota: 256 << 20, Depth: 200,
		ConvertTuplesToLists: true, ConvertInputData: true, ConvertOutputData: true,
	}
}

// Option sets options of an expression.
type Option func(*Options)

// WithOptions sets all options. Zero and negative limits are replaced by the defaults, so that every expression is
// limited.
func WithOptions(o Options) Option { return func(p *Options) { *p = o } }

// Set sets the option with the given name, such as limitIterators or yaql.limitIterators, to a value decoded from JSON.
// It returns an error if the name or the value is invalid.
func (o *Options) Set(name string, value any) error {
	fields := map[string]any{
		"convertTuplesToLists": &o.ConvertTuplesToLists, "convertSetsToLists": &o.ConvertSetsToLists,
		"iterableDicts": &o.IterableDicts, "convertInputData": &o.ConvertInputData,
		"convertOutputData": &o.ConvertOutputData, "delegates": &o.Delegates,
		"limitIterators": &o.LimitIterators, "memoryQuota": &o.MemoryQuota, "depth": &o.Depth,
	}
	name = strings.TrimPrefix(name, "yaql.")
	var n int64
	isNumber := true
	switch v := value.(type) {
	case float64:
		n = int64(min(v, 1<<53))
	case int64:
		n = v
	case int:
		n = int64(v)
	default:
		isNumber = false
	}
	switch field := fields[name].(type) {
	case *bool:
		on, ok := value.(bool)
		if !ok {
			return fmt.Errorf("option %s must be true or false", name)
		}
		*field = on
		return nil
	case *int:
		if isNumber {
			*field = int(n)
		}
	case *int64:
		if isNumber {
			*field = n
		}
	default:
		if near := suggest.To(name, math.MaxInt, maps.Keys(fields)); near != "" {
			return fmt.Errorf("unknown option %s (did you mean %s?)", name, near)
		}
		return fmt.Errorf("unknown option %s", name)
	}
	if !isNumber {
		return fmt.Errorf("option %s must be a number", name)
	}
	return nil
}

// finite replaces zero and negative limits by the defaults and lowers limits that would allow sizes to overflow or
// calls to exhaust the stack.
func (o *Options) finite() {
	d := DefaultOptions()
	if o.LimitIterators <= 0 {
		o.LimitIterators = d.LimitIterators
	}
	if o.MemoryQuota <= 0 {
		o.MemoryQuota = d.MemoryQuota
	}
	if o.Depth <= 0 {
		o.Depth = d.Depth
	}
	o.MemoryQuota, o.Depth = min(o.MemoryQuota, 1<<40), min(o.Depth, 1000)
}
