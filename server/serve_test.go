package server_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/server"
	"github.com/lumi-idl/lumi/server/client"
	"github.com/lumi-idl/lumi/taskgraph/service"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// serve starts the server as 'lumi serve' does. The first function that it returns stops it; the channel has what Serve returns.
func (w *world) serve() (stop func(), done chan error) {
	w.Helper()
	l := must.Get(server.Listen("localhost:0", w.cert, w.key, false))(w)
	ctx, stop := context.WithCancel(context.Background())
	done = make(chan error, 1)
	go func() { done <- server.New(w.options).Serve(ctx, l) }()
	w.Cleanup(func() {
		stop()
		w.cancel()
	})
	w.url = "http://" + l.Addr().String()
	return stop, done
}

// waiting has a task that waits for a file, and one after it.
const waiting = "- {id: wait, type: shell, parameters: {cmd: 'touch began; until [ -e go ]; do sleep 0.02; done'}}\n" +
	"- {id: after, type: shell, requires: [wait], parameters: {cmd: touch after}}\n"

// begin starts a run, and waits until its first task runs.
func (w *world) begin() service.Run {
	w.Helper()
	var r service.Run
	w.must(201, "POST", "/clusters/dev/deployment_graphs/", waiting, nil)
	w.must(201, "PUT", "/clusters/dev/deploy/", "", &r)
	for !w.exists("began") {
		time.Sleep(5 * time.Millisecond)
	}
	return r
}

func (w *world) exists(name string) bool {
	_, err := os.Stat(filepath.Join(w.folder, name))
	return err == nil
}

// TestShutdown stops a server while a run is in a task. The task ends, the next one does not begin, and the run can be resumed.
func TestShutdown(t *testing.T) {
	t.Parallel()
	w := build(t)
	stop, done := w.serve()
	r := w.begin()
	stop()
	for i := 0; ; i++ { // No more requests are accepted.
		c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
		if err != nil {
			break
		}
		c.Close()
		if time.Sleep(5 * time.Millisecond); i > 1000 {
			t.Fatal("still listening")
		}
	}
	select {
	case err := <-done:
		t.Fatalf("the server did not wait for the task: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	must.Do(t, os.WriteFile(filepath.Join(w.folder, "go"), nil, 0o600))
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	got, err := w.service.Run(t.Context(), r.ID)
	if err != nil || got.State != "CANCELLED" || len(got.Tasks) != 1 || got.Tasks[0].State != "DONE" || w.exists("after") {
		t.Fatalf("got %+v, %v", got, err)
	}
	if text := w.log.String(); strings.Contains(text, "error") {
		t.Error(text)
	}
}

// Stopping a server does not wait for its tasks.
func TestCancel(t *testing.T) {
	t.Parallel()
	w := build(t)
	stop, done := w.serve()
	r := w.begin()
	stop()
	w.cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the task was not canceled")
	}
	if got, err := w.service.Run(t.Context(), r.ID); err != nil || got.State != "CANCELLED" || w.exists("after") {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Listen does not serve other machines without protection.
func TestListen(t *testing.T) {
	t.Parallel()
	for _, address := range []string{":0", "0.0.0.0:0", "[::]:0"} {
		want := address + " is reachable from other machines: use --tokens, and --tls-cert with --tls-key or --insecure"
		if l, err := server.Listen(address, "", "", false); err == nil || err.Error() != want {
			t.Errorf("%s: %v, %v", address, l, err)
		}
		l := must.Get(server.Listen(address, "", "", true))(t)
		l.Close()
	}
	if _, err := server.Listen("localhost", "", "", false); err == nil || err.Error() != "address localhost: missing port in address" {
		t.Error(err)
	}
	l, err := server.Listen("[::1]:0", "", "", false)
	if err != nil {
		t.Skipf("no IPv6: %v", err)
	}
	l.Close()
}

func TestTLS(t *testing.T) {
	t.Parallel()
	w := build(t)
	folder := t.TempDir()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
	}
	certificate := must.Get(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(t)
	secret := must.Get(x509.MarshalPKCS8PrivateKey(key))(t)
	for name, block := range map[string]*pem.Block{"cert": {Type: "CERTIFICATE", Bytes: certificate}, "key": {Type: "PRIVATE KEY", Bytes: secret}} {
		must.Do(t, os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600))
	}
	w.cert, w.key = filepath.Join(folder, "cert"), filepath.Join(folder, "key")
	stop, done := w.serve()
	url := strings.Replace(w.url, "http://127.0.0.1", "https://localhost", 1)
	try := func(ca, url string) error {
		c := must.Get(client.New(client.Options{URL: url, Token: w.tokens[server.Read], CA: ca}))(t)
		_, err := c.Graphs(t.Context(), nil)
		return err
	}
	must.Do(t, try(w.cert, url))
	if err := try("", url); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without the authority: %v", err)
	}
	if err := try(w.cert, strings.Replace(url, "localhost", "127.0.0.1", 1)); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("with another name: %v", err)
	}
	if err := try("", w.url); err == nil || !strings.Contains(err.Error(), "400 Bad Request") {
		t.Errorf("without TLS: %v", err)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	for key, want := range map[string]string{
		"missing.pem": "certificate " + w.cert + " with key missing.pem: open missing.pem: no such file or directory",
		w.cert:        "certificate " + w.cert + " with key " + w.cert + ": tls: found a certificate rather than a key in the PEM for the private key",
	} {
		if l, err := server.Listen("localhost:0", w.cert, key, false); err == nil || err.Error() != want {
			t.Errorf("%v, %v", l, err)
		}
	}
}
