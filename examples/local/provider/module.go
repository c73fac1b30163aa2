package local

import (
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Resources returns the providers of all resource types.
func Resources() map[tokens.Type]lumi.ResourceProvider {
	return map[tokens.Type]lumi.ResourceProvider{
		Command:      NewCommandProvider(new(commandProviderOpsImpl)),
		Directory:    NewDirectoryProvider(directoryProviderOpsImpl{}),
		File:         NewFileProvider(fileProviderOpsImpl{}),
		RandomID:     NewRandomIDProvider(new(randomIDProviderOpsImpl)),
		RandomString: NewRandomStringProvider(new(randomStringProviderOpsImpl)),
		Unpacked:     NewUnpackedProvider(new(unpackedProviderOpsImpl)),
	}
}

// Functions returns all functions.
func Functions() map[tokens.Type]lumi.Function {
	return map[tokens.Type]lumi.Function{ReadFile: ReadFileFunc(read).Function()}
}
