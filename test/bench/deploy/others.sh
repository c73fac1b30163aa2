#!/bin/sh
# others.sh measures the cost of OpenTofu's engine for N resources: an initial apply, an apply without changes, and a
# destroy. The provider is a no-op from OpenTofu's own tests. The first run takes several minutes to build both.
#
#	sh others.sh [N [independent|chains [TYPE [PARALLELISM]]]]
#
# With chains, resources form chains of 10, each referring to its predecessor. TYPE is simple_resource, whose provider runs
# in a separate process, or terraform_data, which is built in. CPU seconds are the total over all processes; the peak RSS
# is the largest process's.
set -eu
n=${1:-1000} shape=${2:-independent} type=${3:-simple_resource} parallelism=${4:-10}
module=github.com/opentofu/opentofu version=v1.12.6
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# Replace directives apply only in the main module, so copy OpenTofu's.
go mod init others 2>go.log
src=$(go mod download -json $module@$version | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
grep '^replace' "$src/go.mod" >>go.mod
go get -tool $module/cmd/tofu@$version 2>go.log || { cat go.log >&2; exit 1; }
go build -ldflags "-X $module/version.dev=no" -o tofu $module/cmd/tofu
go build -o terraform-provider-simple $module/internal/provider-simple-v6/main
cat >measure.go <<'EOF'
package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

func main() {
	c, start := exec.Command(os.Args[2], os.Args[3:]...), time.Now()
	if out, err := c.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s%v\n", out, err)
		os.Exit(1)
	}
	s := c.ProcessState
	fmt.Printf("%-10s wall %.2f s, CPU %.2f s, peak RSS %d MiB\n", os.Args[1], time.Since(start).Seconds(),
		(s.UserTime() + s.SystemTime()).Seconds(), s.SysUsage().(*syscall.Rusage).Maxrss/1024)
}
EOF
go build -o measure measure.go
awk -v n="$n" -v shape="$shape" -v type="$type" 'BEGIN {
	print "terraform {\n  required_providers {\n    simple = { source = \"bench.test/bench/simple\" }\n  }\n}"
	for (i = 0; i < n; i++) {
		zone = (shape == "chains" && i % 10) ? type ".r" i-1 ".id" : "\"east\""
		printf "resource \"%s\" \"r%d\" {\n  %s = jsonencode({ name = \"resource-%d\", owner = \"team\", stage = \"test\", size = \"large\", zone = %s })\n}\n",
			type, i, type == "terraform_data" ? "input" : "value", i, zone
	}
}' >main.tf
printf 'provider_installation {\n  dev_overrides { "bench.test/bench/simple" = "%s" }\n}\n' "$dir" >tofu.rc
export TF_CLI_CONFIG_FILE="$dir/tofu.rc"
for step in first unchanged destroy; do
	if [ $step = destroy ]; then command=destroy; else command=apply; fi
	./measure $step ./tofu $command -auto-approve -input=false -parallelism="$parallelism"
done
