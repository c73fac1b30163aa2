package local

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"math/big"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// Random strings and ids exist only in the state, and every change replaces them. If the response to a Create is lost and
// the process exits, the next attempt creates a different value, which is safe since the first one was never used.

const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// randomStringProviderOpsImpl implements random strings.
type randomStringProviderOpsImpl struct{ ledger[*randomString] }

type randomStringState = lumi.State[*randomString]

// Check implements [RandomStringProviderOps].
func (*randomStringProviderOpsImpl) Check(_ context.Context, want *randomStringState) error {
	p := want.Properties
	switch {
	case want.Unknown.Has(RandomString_Characters):
	case p.Characters == nil:
		p.Characters = new(alphanumeric)
	case *p.Characters == "":
		return lumi.Faultf(RandomString_Characters, "must not be empty")
	}
	return nil
}

// IdempotentCreate implements [lumi.IdempotentCreator].
func (*randomStringProviderOpsImpl) IdempotentCreate() bool { return true }

// Create implements [RandomStringProviderOps].
func (ops *randomStringProviderOpsImpl) Create(_ context.Context, want *randomStringState) (lumi.ID, error) {
	p := want.Properties
	characters := []rune(*p.Characters)
	result := make([]rune, p.Length)
	for i := range result {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(characters))))
		if err != nil {
			return "", err
		}
		result[i] = characters[n.Int64()]
	}
	p.Result = string(result)
	id, made := ops.add(want.Token, new(*p))
	p.Result = made.Result
	return id, nil
}

// InspectChange implements [lumi.Inspector]. It ignores a change of the name, which is used only in the URN.
func (*randomStringProviderOpsImpl) InspectChange(_ context.Context, _, _ *randomStringState, diff *lumi.Diff) error {
	diff.Ignore(RandomString_Name)
	return nil
}

// Update implements [RandomStringProviderOps]. Every change replaces the string.
func (*randomStringProviderOpsImpl) Update(_ context.Context, _, _ *randomStringState, _ *lumi.Diff) error {
	return nil
}

// randomIDProviderOpsImpl implements random ids.
type randomIDProviderOpsImpl struct{ ledger[*randomID] }

type randomIDState = lumi.State[*randomID]

// Check implements [RandomIDProviderOps].
func (*randomIDProviderOpsImpl) Check(context.Context, *randomIDState) error { return nil }

// IdempotentCreate implements [lumi.IdempotentCreator].
func (*randomIDProviderOpsImpl) IdempotentCreate() bool { return true }

// Create implements [RandomIDProviderOps].
func (ops *randomIDProviderOpsImpl) Create(_ context.Context, want *randomIDState) (lumi.ID, error) {
	p := want.Properties
	data := make([]byte, *p.Bytes)
	if _, err := rand.Read(data); err != nil {
		return "", err
	}
	p.Hex, p.Base64 = hex.EncodeToString(data), base64.RawURLEncoding.EncodeToString(data)
	id, made := ops.add(want.Token, new(*p))
	p.Hex, p.Base64 = made.Hex, made.Base64
	return id, nil
}

// InspectChange implements [lumi.Inspector]. It ignores a change of the name, which is used only in the URN.
func (*randomIDProviderOpsImpl) InspectChange(_ context.Context, _, _ *randomIDState, diff *lumi.Diff) error {
	diff.Ignore(RandomID_Name)
	return nil
}

// Update implements [RandomIDProviderOps]. Every change replaces the id.
func (*randomIDProviderOpsImpl) Update(_ context.Context, _, _ *randomIDState, _ *lumi.Diff) error {
	return nil
}
