package content_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/content"
)

var code = lumi.AssetArchive(map[string]lumi.Content{
	"main.js": lumi.TextAsset("export {};\n"),
	"lib": lumi.AssetArchive(map[string]lumi.Content{
		"util.js": lumi.TextAsset(""),
	}),
})

func ExampleOpen() {
	source, err := content.Open(context.Background(), lumi.TextAsset("Hello\n"))
	if err != nil {
		log.Fatal(err)
	}
	defer source.Close()
	if _, err := io.Copy(os.Stdout, source); err != nil {
		log.Print(err)
	}
	// Output: Hello
}

func ExampleWalk() {
	err := content.Walk(context.Background(), code, func(f content.File) error {
		text, err := io.ReadAll(f.Content)
		fmt.Printf("%s: %d bytes, %q\n", f.Name, f.Size, text)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// lib/util.js: 0 bytes, ""
	// main.js: 11 bytes, "export {};\n"
}

func ExampleHash() {
	hash, err := content.Hash(context.Background(), code)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(hash)
	// Output:
	// a5673b8f0502b4ff92f1b7b593c8d3e4d689f5f96459e90e642cfe92b62a14ee
}
