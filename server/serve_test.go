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

// serve starts the server like 'lumi serve'. Calling stop stops it; done receives the result of Serve.
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

// waiting is a graph with a task that waits for a file, and a task that depends on it.
const waiting = "- {id: wait, type: shell, parameters: {cmd: 'touch began; until [ -e go ]; do sleep 0.02; done'}}\n" +
	"- {id: after, type: shell, requires: [wait], parameters: {cmd: touch after}}\n"

// begin starts a run and waits until its first task is running.
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

// TestShutdown stops the server while a task is running. The task finishes, the next one does not start, and the run
// can be resumed.
func TestServeShutdown(t *testing.T) {
	t.Parallel()
	w := build(t)
	stop, done := w.serve()
	r := w.begin()
	stop()
	for i := 0; ; i++ { // wait until requests are no longer accepted
		c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
		if err != nil {
			break
		}
		c.Close()
		if time.Sleep(5 * time.Millisecond); i > 1000 {
			t.Fatal("the server still accepts connections after stop")
		}
	}
	select {
	case err := <-done:
		t.Fatalf("Serve returned %v before the task ended", err)
	case <-time.After(100 * time.Millisecond):
	}
	must.Do(t, os.WriteFile(filepath.Join(w.folder, "go"), nil, 0o600))
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	got, err := w.service.Run(t.Context(), r.ID)
	if err != nil || got.State != "CANCELLED" || len(got.Tasks) != 1 || got.Tasks[0].State != "DONE" || w.exists("after") {
		t.Fatalf("Run = %+v, %v, want CANCELLED after one task", got, err)
	}
	if text := w.log.String(); strings.Contains(text, "error") {
		t.Errorf("the log contains an error:\n%s", text)
	}
}

// If the context of the runs is done, the server does not wait for tasks.
func TestServeCancelsTasks(t *testing.T) {
	t.Parallel()
	w := build(t)
	stop, done := w.serve()
	r := w.begin()
	stop()
	w.cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("Serve = %v, want nil", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("Serve did not return within 20s, want the task canceled")
	}
	if got, err := w.service.Run(t.Context(), r.ID); err != nil || got.State != "CANCELLED" || w.exists("after") {
		t.Errorf("Run = %+v, %v, want CANCELLED", got, err)
	}
}

// Listen rejects addresses that other machines can reach without protection.
func TestListen(t *testing.T) {
	t.Parallel()
	for _, address := range []string{":0", "0.0.0.0:0", "[::]:0"} {
		want := address + " is reachable from other machines: use --tokens, and --tls-cert with --tls-key or --insecure"
		if l, err := server.Listen(address, "", "", false); err == nil || err.Error() != want {
			t.Errorf("Listen(%s) = %v, %v, want error %q", address, l, err, want)
		}
		l := must.Get(server.Listen(address, "", "", true))(t)
		l.Close()
	}
	if _, err := server.Listen("localhost", "", "", false); err == nil || err.Error() != "address localhost: missing port in address" {
		t.Errorf("Listen(localhost) = %v, want a missing port error", err)
	}
	l, err := server.Listen("[::1]:0", "", "", false)
	if err != nil {
		t.Skipf("IPv6 is not available: %v", err)
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
		t.Errorf("request without the CA = %v, want a certificate error", err)
	}
	if err := try(w.cert, strings.Replace(url, "localhost", "127.0.0.1", 1)); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("request to another host name = %v, want a certificate error", err)
	}
	if err := try("", w.url); err == nil || !strings.Contains(err.Error(), "400 Bad Request") {
		t.Errorf("request without TLS = %v, want 400 Bad Request", err)
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("Serve = %v, want nil", err)
	}
	for key, want := range map[string]string{
		"missing.pem": "certificate " + w.cert + " with key missing.pem: open missing.pem: no such file or directory",
		w.cert:        "certificate " + w.cert + " with key " + w.cert + ": tls: found a certificate rather than a key in the PEM for the private key",
	} {
		if l, err := server.Listen("localhost:0", w.cert, key, false); err == nil || err.Error() != want {
			t.Errorf("Listen with key %s = %v, %v, want an error", key, l, err)
		}
	}
}
