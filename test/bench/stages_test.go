//go:build unix

// Package bench_test measures the stages of the compiler within a single process. Package process measures the command end
// to end.
package bench_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/tools/go/packages"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/gen/gostubs"
	"github.com/lumi-idl/lumi/gen/typescript"
	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/test/bench/cputime"
	"github.com/lumi-idl/lumi/test/kit/corpus"
)

// BenchmarkStages reports CPU time rather than wall time, since generators use all processors. Loading and checking cannot
// be separated, so check is the cost of compile.Load minus the cost of a bare load in the same iteration.
func BenchmarkStages(b *testing.B) {
	for _, resources := range []int{100, 1000, 5000} {
		dir := b.TempDir()
		if err := corpus.Write(dir, corpus.Options{Resources: resources}); err != nil {
			b.Fatal(err)
		}
		s := &stages{idl: filepath.Join(dir, filepath.FromSlash(corpus.IDL))}
		for _, stage := range []struct {
			name string
			run  func(b *testing.B) time.Duration
		}{
			{"load", s.load}, {"check", s.check}, {"typescript", s.typescript}, {"go", s.goStubs}, {"write", s.write},
			{"rewrite", s.rewrite},
		} {
			b.Run(fmt.Sprintf("%s/%d", stage.name, resources), func(b *testing.B) {
				var total time.Duration
				for b.Loop() {
					total += stage.run(b)
				}
				b.ReportMetric(0, "ns/op") // would include setup
				b.ReportMetric(total.Seconds()/float64(b.N), "cpu-s/op")
			})
		}
	}
}

// stages holds the input and intermediate results of the stages. Each method runs one stage and returns its CPU time.
type stages struct {
	idl string
	pkg *schema.Package
}

func (s *stages) load(b *testing.B) time.Duration {
	return cpuTime(b, func() error {
		_, err := packages.Load(&packages.Config{Dir: s.idl, Mode: compile.LoadMode}, "./...")
		return err
	})
}

func (s *stages) check(b *testing.B) time.Duration {
	load := s.load(b)
	return cpuTime(b, func() error {
		pkg, diags, err := compile.Load(context.Background(), compile.Options{Dir: s.idl})
		if err == nil && pkg == nil {
			err = fmt.Errorf("invalid corpus: %v", diags[0])
		}
		s.pkg = pkg
		return err
	}) - load
}

// checked returns the model of the corpus. It runs the check stage if a -bench filter skipped it.
func (s *stages) checked(b *testing.B) *schema.Package {
	if s.pkg == nil {
		s.check(b)
	}
	return s.pkg
}

func (s *stages) typescript(b *testing.B) time.Duration {
	pkg := s.checked(b)
	return cpuTime(b, func() error {
		files, _, err := typescript.Generate(pkg, typescript.Options{})
		if err == nil {
			_, err = gen.Rendered(files)
		}
		return err
	})
}

func (s *stages) goStubs(b *testing.B) time.Duration {
	pkg := s.checked(b)
	return cpuTime(b, func() error {
		_, err := gen.Rendered(gostubs.Generate(pkg, gostubs.Options{ImportPath: corpus.Module + "/provider"}))
		return err
	})
}

// files generates the pack and the provider stubs of the corpus.
func (s *stages) files(b *testing.B) (pack, provider []gen.File) {
	b.Helper()
	pkg := s.checked(b)
	pack, _, err := typescript.Generate(pkg, typescript.Options{})
	if err == nil {
		pack, err = gen.Rendered(pack)
	}
	if err != nil {
		b.Fatal(err)
	}
	provider, err = gen.Rendered(gostubs.Generate(pkg, gostubs.Options{ImportPath: corpus.Module + "/provider"}))
	if err != nil {
		b.Fatal(err)
	}
	return pack, provider
}

// write measures writing all outputs to an empty folder.
func (s *stages) write(b *testing.B) time.Duration {
	pack, provider := s.files(b)
	dir := b.TempDir()
	took := writeOutputs(b, dir, pack, provider)
	if err := os.RemoveAll(dir); err != nil {
		b.Fatal(err)
	}
	return took
}

// rewrite measures writing all outputs over identical existing files.
func (s *stages) rewrite(b *testing.B) time.Duration {
	pack, provider := s.files(b)
	dir := b.TempDir()
	writeOutputs(b, dir, pack, provider)
	took := writeOutputs(b, dir, pack, provider)
	if err := os.RemoveAll(dir); err != nil {
		b.Fatal(err)
	}
	return took
}

func writeOutputs(b *testing.B, dir string, pack, provider []gen.File) time.Duration {
	return cpuTime(b, func() error {
		for folder, files := range map[string][]gen.File{"pack": pack, "provider": provider} {
			plan, err := gen.Compare(filepath.Join(dir, folder), files)
			if err != nil {
				return err
			}
			if _, err := gen.Write(context.Background(), plan); err != nil {
				return err
			}
		}
		return nil
	})
}

// cpuTime returns the CPU time used by do and its child processes.
func cpuTime(b *testing.B, do func() error) time.Duration {
	b.Helper()
	start := cputime.Now(b)
	if err := do(); err != nil {
		b.Fatal(err)
	}
	return cputime.Now(b) - start
}
