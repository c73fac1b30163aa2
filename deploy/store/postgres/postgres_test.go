package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/postgres"
	"github.com/lumi-idl/lumi/deploy/store/storetest"
	"github.com/lumi-idl/lumi/test/kit/must"
	pg "github.com/lumi-idl/lumi/test/kit/postgres"
)

// TestServer runs the tests that share a server.
func TestServer(t *testing.T) {
	server := pg.Start(t)
	for name, test := range map[string]func(*testing.T, *pg.Server){
		"Store": testStore, "Isolation": testIsolation, "LostCommit": testLostCommit, "Uncertain": testUncertain, "ManyLost": testManyLost,
		"Undecided": testUndecided, "Read": testRead, "Stopped": testStopped, "Wait": testWait,
		"RoundTrips": testRoundTrips, "Watch": testWatch, "Copy": testCopy, "Versions": testVersions, "Pooler": testPooler,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, server)
		})
	}
}

func testStore(t *testing.T, server *pg.Server) {
	storetest.Test(t, func(t *testing.T) store.Store {
		return must.Get(postgres.Open(t.Context(), server.URL(), postgres.Options{}))(t)
	})
}

// testWatch watches the changes of another process, and changes in bulk.
func testWatch(t *testing.T, server *pg.Server) {
	url := server.URL()
	ours, theirs := newCounter(t, url, postgres.Options{}), newCounter(t, url, postgres.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	names := make(chan string, 1000)
	var watching sync.WaitGroup
	watching.Go(func() { ours.Watch(ctx, func(name string) { names <- name }) })
	add := func() {
		must.Do(t, theirs.Write(t.Context(), "dev", func(tx store.Tx) error {
			_, err := tx.AddJob(store.Job{Environment: "dev", State: store.Wait}, store.Content{})
			return err
		}))
	}
	received := false
	for !received { // until ours listens
		add()
		select {
		case name := <-names:
			received = name == "dev"
		case <-time.After(100 * time.Millisecond):
		}
	}
	time.Sleep(100 * time.Millisecond)
	for len(names) > 0 {
		<-names
	}
	began := time.Now()
	for range 50 {
		add()
	}
	time.Sleep(100 * time.Millisecond)
	if n, limit := len(names), int(time.Since(began)/(20*time.Millisecond))+1; n == 0 || n > limit {
		t.Errorf("%d notifications in %s, want 1 to %d", n, time.Since(began), limit)
	}
	cancel()
	watching.Wait()
}

// testCopy copies a database.
func testCopy(t *testing.T, server *pg.Server) {
	server.Query(t, "CREATE DATABASE original")
	of := func(database string) string { return strings.Replace(server.URL(), "/postgres?", "/"+database+"?", 1) }
	url := of("original")
	original := must.Get(postgres.Open(t.Context(), url, postgres.Options{}))(t)
	put := func(s *postgres.Store) error {
		return s.Write(t.Context(), "dev", func(tx store.Tx) error { return tx.PutEnvironment(store.Environment{Name: "dev"}) })
	}
	must.Do(t, errors.Join(put(original), original.Copied(), original.Close()))
	server.Query(t, "CREATE DATABASE copy TEMPLATE original")
	copied := must.Get(postgres.Open(t.Context(), strings.Replace(url, "/original?", "/copy?", 1), postgres.Options{}))(t)
	want := fmt.Sprintf("postgres://127.0.0.1:%d/copy is a copy of a state or was restored from a backup, so it can only be read: "+
		"if nothing uses the original, run 'lumi state adopt'", server.Port)
	for _, err := range []error{copied.Copied(), put(copied)} {
		if !errors.Is(err, store.ErrCopied) || err.Error() != want {
			t.Errorf("error of a copy = %v, want %s", err, want)
		}
	}
	must.Do(t, copied.Read(t.Context(), func(tx store.Tx) error { _, err := tx.Environment("dev"); return err }))
	must.Do(t, copied.Adopt(t.Context(), func(tx store.Tx) error { _, err := tx.Environment("dev"); return err }))
	must.Do(t, errors.Join(copied.Copied(), put(copied), copied.Close()))
}

// testVersions opens a schema of a newer version, and one that several processes create.
func testVersions(t *testing.T, server *pg.Server) {
	open := func(url string) error {
		s, err := postgres.Open(t.Context(), url, postgres.Options{})
		if err == nil {
			err = s.Close()
		}
		return err
	}
	var all sync.WaitGroup
	url := server.Schema("versions")
	for _, url := range []string{url, server.URL(), server.URL(), server.URL()} {
		for range 6 {
			all.Go(func() {
				if err := open(url); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	server.Query(t, "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
	want := fmt.Sprintf("postgres://127.0.0.1:%d/latin: the encoding of the database is LATIN1: use one from "+
		"'createdb --encoding=UTF8 --template=template0 NAME'", server.Port)
	if err := open(strings.Replace(url, "/postgres?", "/latin?", 1)); err == nil || err.Error() != want {
		t.Errorf("Open() = %v, want %s", err, want)
	}
	// Who owns a schema need not be able to create one.
	server.Query(t, "CREATE ROLE guest LOGIN; CREATE SCHEMA theirs AUTHORIZATION guest")
	guest := strings.Replace(server.Schema("theirs"), server.User+"@", "guest@", 1)
	if err := open(guest); err != nil {
		t.Error(err)
	}
	server.Query(t, "INSERT INTO versions.migration VALUES (1000)")
	_, err := postgres.Open(t.Context(), url, postgres.Options{})
	want = fmt.Sprintf("postgres://127.0.0.1:%d/postgres: the state was written by a newer version of lumi (schema 1000, this version supports up to 1): upgrade lumi", server.Port)
	if err == nil || err.Error() != want {
		t.Errorf("Open() = %v, want %s", err, want)
	}
}

// testPooler uses the store through PgBouncer, whose connections change with each transaction.
func testPooler(t *testing.T, server *pg.Server) {
	port := server.Pooler(t)
	storetest.Test(t, func(t *testing.T) store.Store {
		url := strings.Replace(server.URL(), fmt.Sprint(":", server.Port), fmt.Sprint(":", port), 1)
		return must.Get(postgres.Open(t.Context(), url, postgres.Options{}))(t)
	})
}

func TestURLs(t *testing.T) {
	long := strings.Repeat("s", 56) // PostgreSQL would take it, but not the name of the channel
	for _, test := range []struct{ url, want string }{
		{"postgres://ann:hunter2@h%zz/x", "invalid PostgreSQL URL: write postgres://USER@HOST/DATABASE, and percent-encode special characters"},
		{"postgres://ann:hunter2@h/x?sslmode=maybe", "invalid PostgreSQL URL for h/x: sslmode is invalid"},
		{"postgres://ann:hunter2@h/x?schema=", `invalid PostgreSQL URL for h/x: schema="" is not the name of a schema`},
		{"postgres://ann:hunter2@h/x?schema=a%0Ab", `invalid PostgreSQL URL for h/x: schema="a\nb" is not the name of a schema`},
		{"postgres://ann:hunter2@h/x?schema=" + long, fmt.Sprintf("invalid PostgreSQL URL for h/x: schema=%q is not the name of a schema", long)},
		{"postgres://ann:hunter2@h:99999/x", "invalid PostgreSQL URL for h:99999/x"},
	} {
		if _, err := postgres.Open(t.Context(), test.url, postgres.Options{}); err == nil || err.Error() != test.want {
			t.Errorf("Open(%s) = %v, want %s", test.url, err, test.want)
		}
	}
	t.Setenv("PGHOST", "elsewhere")
	t.Setenv("PGDATABASE", "state")
	for _, url := range []string{"postgres://", "postgresql://?schema=x", "postgres:///"} {
		if got, want := postgres.Name(url), "postgres://elsewhere/state"; got != want {
			t.Errorf("Name(%s) = %s, want %s", url, got, want)
		}
	}
	for location, want := range map[string]bool{"postgres://h/x": true, "POSTGRESQL://h/x": true, "postgres": false, "postgres.db": false, "a/postgres://": false} {
		if got := postgres.IsURL(location); got != want {
			t.Errorf("IsURL(%s) = %t, want %t", location, got, want)
		}
	}
	const unverified = "postgres://db.example.com/x: the server's certificate is not verified, so others in the network may read or change the state: add sslmode=verify-full"
	for url, want := range map[string]string{
		"postgres://ann:hunter2@db.example.com/x":                     unverified,
		"postgres://ann:hunter2@db.example.com/x?sslmode=require":     unverified,
		"postgres://ann:hunter2@db.example.com/x?sslmode=verify-ca":   unverified,
		"postgres://ann:hunter2@db.example.com/x?sslmode=verify-full": "",
		"postgres://ann:hunter2@127.0.0.1/x":                          "",
		"postgres://ann:hunter2@[::1]/x":                              "",
		"postgres:///x?host=/run/postgresql":                          "",
		"not a URL":                                                   "",
	} {
		if got := postgres.Warning(url); got != want {
			t.Errorf("Warning(%s) = %q, want %q", url, got, want)
		}
	}
}
