// Prose counts phrases that make text read as a translation, such as "X is what" or "holds that". It searches comments and
// strings in Go, TypeScript, JavaScript, .proto, and shell files, and Markdown outside of code blocks. It fails if the
// number of phrases per 1,000 lines in a top-level folder exceeds the folder's limit.
//
//	go -C tools run ./prose [-list] [PATH...]
//
// Without -list, it prints the counts of each folder. With -list, it prints the position of each phrase instead. Paths
// restrict the search. Generated files, testdata, CHANGELOG.md, and this package are excluded.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// limits maps top-level folders to the maximum number of phrases per 1,000 lines; "." is for files in the root. The limits
// are not zero, since a phrase can be appropriate in context. Lower a limit when a folder improves.
var limits = map[string]float64{
	".": 6, "adapter": 1, "cmd": 1, "deploy": 1, "docs": 2, "examples": 1, "gen": 2, "idl": 1, "internal": 1, "lang": 1, "lumigl": 1,
	"runtime": 2, "server": 1, "taskgraph": 2, "test": 1, "tools": 1,
}

var phrases = regexp.MustCompile(`\b(holds that|is about|(those|that) (of|that)|(is|are) what|what (is|are|there is)|says|tells|stands|` +
	`nobody|somebody|beside|behind|mends?|whoever|of which|(has|have) to be|lest|lies|leads to|goes (by|on|with)|it comes|once more|` +
	`be had|dealt with|let go|as it should be|without a word|for ever|in the place of|had better)\b`)

var (
	counted   = regexp.MustCompile(`\.(go|md|ts|mjs|proto|sh)$`)
	uncounted = regexp.MustCompile(`(^|/)testdata/|(^|/)pack/|^tools/prose/|_stub\.go$|(^|/)lumischema/|\.pb\.go$|\.gen\.go$|^CHANGELOG\.md$`)
)

type count struct{ lines, found int }

func main() {
	list := flag.Bool("list", false, "print each phrase found with its position")
	flag.Parse()
	if err := run(flag.Args(), *list); err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(1)
	}
}

func run(paths []string, list bool) error {
	root, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return fmt.Errorf("git rev-parse: %w", err)
	}
	if err := os.Chdir(strings.TrimSpace(string(root))); err != nil {
		return err
	}
	files, err := exec.Command("git", append([]string{"ls-files", "-z", "--"}, paths...)...).Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	counts := map[string]count{}
	for name := range strings.SplitSeq(strings.TrimRight(string(files), "\x00"), "\x00") {
		if !counted.MatchString(name) || uncounted.MatchString(name) {
			continue
		}
		source, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			return err
		}
		folder, _, inFolder := strings.Cut(name, "/")
		if !inFolder {
			folder = "."
		}
		c := counts[folder]
		c.lines += bytes.Count(source, []byte("\n"))
		for _, p := range pieces(path.Ext(name), source) {
			for _, at := range phrases.FindAllStringIndex(p.text, -1) {
				c.found++
				if list {
					line := p.line + strings.Count(p.text[:at[0]], "\n")
					fmt.Printf("%s:%d: %s\n", name, line, p.text[at[0]:at[1]])
				}
			}
		}
		counts[folder] = c
	}
	if list {
		return nil
	}
	return report(counts)
}

// report prints the counts of all folders. It returns an error if a folder exceeds its limit.
func report(counts map[string]count) error {
	var over []string
	fmt.Printf("%-12s %8s %8s %8s %8s\n", "folder", "lines", "found", "per1000", "limit")
	for _, folder := range slices.Sorted(maps.Keys(counts)) {
		c := counts[folder]
		rate := 1000 * float64(c.found) / float64(max(c.lines, 1))
		fmt.Printf("%-12s %8d %8d %8.1f %8.1f\n", folder, c.lines, c.found, rate, limits[folder])
		if rate > limits[folder] {
			over = append(over, folder)
		}
	}
	if len(over) > 0 {
		return fmt.Errorf("above the limit: %s; see 'go -C tools run ./prose -list'", strings.Join(over, ", "))
	}
	return nil
}
