package typescript_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/gen/typescript"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/test/kit/expect"
)

func TestCollisions(t *testing.T) {
	fn := &schema.Function{
		Header: schema.Header{Name: "FindImage", Pos: schema.Position{Line: 7, Column: 6}}, Token: "aws:ec2:FindImage",
		Properties: []*schema.Property{{Field: "ID", Name: "imageID", Type: schema.String, Out: true}},
	}
	pkg := &schema.Package{Name: "aws", Modules: []*schema.Module{
		{Path: "ec2", GoName: "ec2", Files: []*schema.File{{Name: "image.go", Decls: []schema.Decl{fn}}}},
		{Path: "s3", GoName: "s3", Files: []*schema.File{{Name: "bucket.go"}}},
	}}
	pkg.Link()
	for _, test := range []struct {
		source string
		want   string // the position and the name of the export, if it collides
	}{
		{"export function findImage() {}", "1:17 findImage"},
		{"export async function* findImage() {}", "1:24 findImage"},
		{"\n  export  const findImage = 1;", "2:17 findImage"},
		{"export declare abstract class FindImageArgs {}", "1:31 FindImageArgs"},
		{"export const enum FindImageResult {}", "1:19 FindImageResult"},
		{"export type FindImageResult<T> = T;", "1:13 FindImageResult"},
		{"export interface FindImageResult {}", "1:18 FindImageResult"},
		{"export * as findImage from './other.js';", "1:13 findImage"},
		{"export { a, type b as findImage };", "1:23 findImage"},
		{"export type {\n    FindImageArgs, // why\n} from './b.js';", "2:5 FindImageArgs"},
		{"export { findImage as latest };", ""},
		{"export { default } from './findImage.js';", ""},
		{"export default function findImage() {}", ""},
		{"function findImage() {}\nexport const findImages = findImage;", ""},
		{"// export function findImage() {}\n/*\nexport function findImage() {}\n*/", ""},
		{"export * from './findImage.js';", ""},
	} {
		existing := fstest.MapFS{
			"ec2/own.ts": {Data: []byte(test.source)}, "s3/own.ts": {Data: []byte("export function findImage() {}")},
			"ec2/old.ts": {Data: []byte(gen.Header(gen.Slashes, "old.go") + "\nexport function findImage() {}")},
		}
		diags, err := typescript.Collisions(pkg, "idl", "pack", existing)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range diags {
			note := d.Notes[0].Span
			name := d.Message[strings.LastIndexByte(d.Message, ' ')+1:]
			got = append(got, fmt.Sprintf("%d:%d %s", note.Start.Line, note.Start.Column, name))
			expect.Equal(t, filepath.Join("pack", "ec2", "own.ts"), note.Start.File, test.source)
		}
		expect.Equal(t, test.want, strings.Join(got, "\n"), test.source)

		existing["ec2/index.ts"] = &fstest.MapFile{Data: []byte("export * from './own.js';")}
		if diags, err := typescript.Collisions(pkg, "idl", "pack", existing); err != nil || diags != nil {
			t.Errorf("Collisions with a hand-written barrel: got %v, error %v, want none", diags, err)
		}
	}
	if diags, err := typescript.Collisions(pkg, "idl", "pack", nil); err != nil || diags != nil {
		t.Errorf("Collisions without a folder: got %v, error %v, want none", diags, err)
	}
	if _, err := typescript.Collisions(pkg, "idl", "pack", failing{}); err == nil {
		t.Error("Collisions of an unreadable folder: got no error")
	}
}
