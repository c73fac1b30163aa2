package serve

import (
	"io"
	"maps"
	"slices"
	"sync"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/internal/mask"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
)

// keeper knows the secrets of the calls in flight and of the configuration, which no log may tell.
type keeper struct {
	mu sync.Mutex
	// configured are those of the configuration, nil while there is none.
	configured *mask.Secrets
	calls      map[*mask.Secrets]struct{}
}

func newKeeper() *keeper { return &keeper{calls: map[*mask.Secrets]struct{}{}} }

// begin returns the secrets of a call until the function that it returns too is called with the call's error.
func (k *keeper) begin(req any) (s *mask.Secrets, end func(err error)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, configure := req.(*lumirpc.ConfigureRequest)
	if s = mask.New(k.configured); configure {
		s = mask.New(nil)
	}
	s.Add(func() mask.Found { return sent(req) })
	k.calls[s] = struct{}{}
	return s, func(err error) {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.calls, s)
		if configure && err == nil {
			k.configured = s
		}
	}
}

// text masks all secrets.
func (k *keeper) text(text string) string {
	k.mu.Lock()
	all := append(slices.Collect(maps.Keys(k.calls)), k.configured)
	k.mu.Unlock()
	return mask.Text(text, all...)
}

// maskedLog is what is behind a writer, which never gets to see a secret that the keeper knows.
type maskedLog struct {
	*keeper
	to io.Writer
}

// Write implements [io.Writer].
func (l maskedLog) Write(data []byte) (int, error) {
	if _, err := io.WriteString(l.to, l.text(string(data))); err != nil {
		return 0, err
	}
	return len(data), nil
}

// sent lists what is wrapped in the bags of a request.
func sent(req any) mask.Found {
	var found mask.Found
	if r, ok := req.(interface{ GetProperties() *structpb.Struct }); ok {
		wrapped(r.GetProperties(), &found)
	}
	if r, ok := req.(interface {
		GetOld() *structpb.Struct
		GetNew() *structpb.Struct
	}); ok {
		wrapped(r.GetOld(), &found)
		wrapped(r.GetNew(), &found)
	}
	if r, ok := req.(interface {
		GetReferences() map[string]*lumirpc.Reference
	}); ok {
		for _, ref := range r.GetReferences() {
			wrapped(ref.GetProperties(), &found)
		}
	}
	return found
}

// wrapped lists what is wrapped in a bag, without knowledge of its type.
func wrapped(bag *structpb.Struct, found *mask.Found) {
	listSecrets(structpb.NewStructValue(bag), false, found)
}

func listSecrets(v *structpb.Value, hidden bool, found *mask.Found) {
	switch k := v.GetKind().(type) {
	case *structpb.Value_StringValue:
		if hidden && k.StringValue != lumi.UnknownValue {
			found.Texts = append(found.Texts, k.StringValue)
		}
	case *structpb.Value_ListValue:
		for _, elem := range k.ListValue.GetValues() {
			listSecrets(elem, hidden, found)
		}
	case *structpb.Value_StructValue:
		fields := k.StructValue.GetFields()
		signature, special := fields[lumi.Signature]
		hidden = hidden || signature.GetStringValue() == lumi.SecretSignature
		for key, field := range fields {
			if special && key == lumi.Signature {
				continue
			}
			if hidden && !special {
				found.Keys = append(found.Keys, key)
			}
			listSecrets(field, hidden, found)
		}
	}
}
