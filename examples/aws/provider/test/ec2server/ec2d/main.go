// Command ec2d runs the fake EC2 server in package ec2server, for manual tests of the provider.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/lumi-idl/lumi/examples/aws/provider/test/ec2server"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:7071", "address to serve on")
	region := flag.String("region", "us-west-2", "region that requests must be signed for")
	access := flag.String("access", "AKIDEXAMPLE", "id of the key that requests must be signed with")
	flag.Parse()
	server := &http.Server{
		Addr: *listen, Handler: ec2server.New(*region, *access), ReadHeaderTimeout: 10 * time.Second,
	}
	fmt.Fprintln(os.Stderr, server.ListenAndServe())
	os.Exit(1)
}
