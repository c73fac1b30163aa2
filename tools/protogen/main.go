// Protogen generates Go code for the messages and gRPC services in a .proto file, in the same folder. It compiles the file
// itself and runs the two plugins pinned in go.mod, so protoc is not needed.
//
//	go -C tools run ./protogen ../path/to/file.proto
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/protoutil"
	_ "google.golang.org/genproto/googleapis/rpc/status" // for imports in .proto files; see linked
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: protogen FILE.proto")
		os.Exit(2)
	}
	if err := generate(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

func generate(ctx context.Context, path string) error {
	// Include the folder in the name, since the names of all .proto files linked into a program must be unique.
	folder, name := filepath.Split(filepath.Clean(path))
	root := filepath.Dir(filepath.Clean(folder))
	name = filepath.Base(folder) + "/" + name
	files, err := compile(ctx, root, name)
	if err != nil {
		return err
	}
	for _, plugin := range []string{"protoc-gen-go", "protoc-gen-go-grpc"} {
		generated, err := run(ctx, plugin, &pluginpb.CodeGeneratorRequest{
			FileToGenerate: []string{name},
			Parameter:      proto.String("paths=source_relative"),
			ProtoFile:      files,
		})
		if err != nil {
			return fmt.Errorf("%s: %w", plugin, err)
		}
		for _, f := range generated {
			if err := os.WriteFile(filepath.Join(root, f.GetName()), []byte(f.GetContent()), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// compile returns the descriptors of a .proto file and its imports in topological order, as required by plugins.
func compile(ctx context.Context, root, name string) ([]*descriptorpb.FileDescriptorProto, error) {
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(protocompile.CompositeResolver{
			&protocompile.SourceResolver{ImportPaths: []string{root, filepath.Dir(root)}}, // the second for imports of ../lumirpc
			protocompile.ResolverFunc(linked),
		}),
		SourceInfoMode: protocompile.SourceInfoStandard, // comments become documentation
	}
	compiled, err := compiler.Compile(ctx, name)
	if err != nil {
		return nil, err
	}
	var files []*descriptorpb.FileDescriptorProto
	seen := make(map[string]bool)
	var add func(file protoreflect.FileDescriptor)
	add = func(file protoreflect.FileDescriptor) {
		if seen[file.Path()] {
			return
		}
		seen[file.Path()] = true
		for imports, i := file.Imports(), 0; i < imports.Len(); i++ {
			add(imports.Get(i).FileDescriptor)
		}
		files = append(files, protoutil.ProtoFromFileDescriptor(file))
	}
	add(compiled[0].(linker.File))
	return files, nil
}

// linked resolves imports of .proto files whose generated code is linked into this program.
func linked(path string) (protocompile.SearchResult, error) {
	file, err := protoregistry.GlobalFiles.FindFileByPath(path)
	return protocompile.SearchResult{Desc: file}, err
}

func run(
	ctx context.Context, plugin string, req *pluginpb.CodeGeneratorRequest,
) ([]*pluginpb.CodeGeneratorResponse_File, error) {
	input, err := proto.Marshal(req)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "tool", plugin)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var resp pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(output, &resp); err != nil {
		return nil, err
	}
	if resp.Error != nil {
		return nil, errors.New(resp.GetError())
	}
	return resp.GetFile(), nil
}
