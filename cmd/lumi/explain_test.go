package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestCodesPage holds that 'lumi explain' says what the pages of docs say. With -update, what it says is taken from there.
func TestCodesPage(t *testing.T) {
	part := func(page, from, to string) string {
		text, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, ok := strings.Cut(string(text), "\n"+from+"\n")
		if !ok {
			t.Fatalf("docs/%s has no %q", page, from)
		}
		rest, _, _ = strings.Cut(rest, "\n"+to)
		return from + "\n" + strings.TrimRight(rest, "\n") + "\n"
	}
	want := part("lumigl.md", "### The rules of JSON", "## ") + "\n" + part("convert.md", "## Losses", "## ")
	if *update {
		if err := os.WriteFile("codes.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if codesPage != want {
		t.Error("cmd/lumi/codes.md is not what docs/lumigl.md and docs/convert.md say; go test ./cmd/lumi -run CodesPage -update writes it")
	}
}

// TestEveryCodeIsExplained goes through the constants of both packages.
func TestEveryCodeIsExplained(t *testing.T) {
	explained := map[string]int{}
	for _, e := range explanations() {
		explained[e.About+" "+e.Code]++
		if len(e.Text) < 10 || e.Group == "" {
			t.Errorf("%s: %+v", e.Code, e)
		}
	}
	constants := regexp.MustCompile(`(?m)^\t\w+(?:Fault|Loss) +Code = "(.*?)"`)
	for about, file := range map[string]string{"fault": "../../lumigl/fault.go", "loss": "../../lumigl/convert/losses.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, code := range constants.FindAllStringSubmatch(string(text), -1) {
			if explained[about+" "+code[1]] != 1 {
				t.Errorf("the %s %s is explained %d times", about, code[1], explained[about+" "+code[1]])
			}
			delete(explained, about+" "+code[1])
		}
	}
	for code := range explained {
		t.Errorf("there is no %s", code)
	}
}
