package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/postgres"
	"github.com/lumi-idl/lumi/test/kit/must"
	pg "github.com/lumi-idl/lumi/test/kit/postgres"
)

// counter is an environment whose Last is incremented by transactions.
type counter struct {
	*postgres.Store
	began atomic.Int64 // number of times that a transaction's function has run
}

func newCounter(t *testing.T, url string, o postgres.Options) *counter {
	t.Helper()
	c := &counter{Store: must.Get(postgres.Open(t.Context(), url, o))(t)}
	t.Cleanup(func() { must.Do(t, c.Close()) })
	must.Do(t, c.Write(t.Context(), "dev", func(tx store.Tx) error { return tx.PutEnvironment(store.Environment{Name: "dev"}) }))
	return c
}

func (c *counter) increment(ctx context.Context) error {
	return c.Write(ctx, "dev", func(tx store.Tx) error {
		c.began.Add(1)
		e, err := tx.Environment("dev")
		e.Last++
		return errors.Join(err, tx.PutEnvironment(e))
	})
}

// run increments n times in each of four goroutines, calls between in the meantime, and returns the count.
func (c *counter) run(t *testing.T, n int, between func()) (count int64) {
	t.Helper()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range n {
				if err := c.increment(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if between != nil {
		between()
	}
	all.Wait()
	must.Do(t, c.Read(t.Context(), func(tx store.Tx) error {
		e, err := tx.Environment("dev")
		count = e.Last
		return err
	}))
	return count
}

// testIsolation shows why writes lock the environment at READ COMMITTED.
func testIsolation(t *testing.T, server *pg.Server) {
	for _, test := range []struct {
		name      string
		o         postgres.Options
		exact     bool // no increment is lost
		repeating bool // transactions run again
	}{
		{"as used", postgres.Options{}, true, false},
		{"without a lock", postgres.With("", true, false), false, false},
		// Statements see the state from before the lock was granted, so the server refuses to commit.
		{"serializable", postgres.With("SERIALIZABLE", false, false), true, true},
		{"repeatable read", postgres.With("REPEATABLE READ", false, false), true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCounter(t, server.URL(), test.o)
			count := c.run(t, 50, nil)
			if (count == 200) != test.exact || (c.began.Load() > 200) != test.repeating {
				t.Errorf("count = %d after 200 increments and %d attempts, want 200: %t, repeated: %t", count, c.began.Load(), test.exact, test.repeating)
			}
		})
	}
}

// testLostCommit loses the answers to commits. Each increment is made once, unless the outcome is not asked for.
func testLostCommit(t *testing.T, server *pg.Server) {
	for _, noStatus := range []bool{false, true} {
		t.Run(fmt.Sprint("status=", !noStatus), func(t *testing.T) {
			proxy := server.Proxy(t)
			c := newCounter(t, proxy.URL(server.URL()), postgres.With("", false, noStatus))
			lost := int64(0)
			count := c.run(t, 30, func() {
				for range 20 {
					proxy.Drop.Add(1)
					lost++
					time.Sleep(5 * time.Millisecond)
				}
			})
			lost -= int64(max(proxy.Drop.Swap(0), 0))
			if lost < 5 || (count == 120) == noStatus || count > 120+lost {
				t.Errorf("count = %d after 120 increments, %d of them without an answer", count, lost)
			}
		})
	}
}

// testUncertain loses the answer to a commit, and then the server for good.
func testUncertain(t *testing.T, server *pg.Server) {
	proxy := server.Proxy(t)
	c := newCounter(t, proxy.URL(server.URL()), postgres.Options{Timeout: time.Second})
	proxy.Drop.Store(1)
	proxy.Down.Store(true) // only connections that are open remain
	if err := c.increment(t.Context()); !errors.Is(err, store.ErrUncertain) || c.began.Load() != 1 {
		t.Errorf("Write() = %v after %d attempts, want ErrUncertain after 1", err, c.began.Load())
	}
	proxy.Cut()
	err := c.increment(t.Context())
	if want := "failed to connect to"; err == nil || errors.Is(err, store.ErrUncertain) || !strings.Contains(err.Error(), want) {
		t.Errorf("Write() without a server = %v, want an error with %q", err, want)
	}
}

// testUndecided loses the connection while the server commits, and the commit does not end.
func testUndecided(t *testing.T, server *pg.Server) {
	proxy := server.Proxy(t)
	c := newCounter(t, proxy.URL(server.URL()+"&application_name=undecided"), postgres.Options{Timeout: time.Second})
	err := c.Write(t.Context(), "dev", func(tx store.Tx) error {
		e, err := tx.Environment("dev")
		c.began.Add(1)
		pid := server.Query(t, "SELECT pid FROM pg_stat_activity WHERE application_name = 'undecided' AND state = 'idle in transaction'")
		must.Do(t, exec.Command("kill", "-STOP", pid).Run())
		t.Cleanup(func() { must.Do(t, exec.Command("kill", "-CONT", pid).Run()) })
		time.AfterFunc(100*time.Millisecond, proxy.Cut)
		return errors.Join(err, tx.PutEnvironment(e))
	})
	if !errors.Is(err, store.ErrUncertain) || c.began.Load() != 1 {
		t.Errorf("Write() = %v after %d attempts, want ErrUncertain, 1", err, c.began.Load())
	}
}

// testRead loses the connection during a read, which runs again, and at its end, when it has seen everything.
func testRead(t *testing.T, server *pg.Server) {
	proxy := server.Proxy(t)
	c := newCounter(t, proxy.URL(server.URL()), postgres.Options{})
	for _, cut := range []struct{ before, want int }{{0, 1}, {1, 2}, {2, 1}} {
		runs := 0
		err := c.Read(t.Context(), func(tx store.Tx) error {
			runs++
			for i := range 2 {
				if _, err := tx.Environment("dev"); err != nil {
					return err
				}
				if runs == 1 && i+1 == cut.before {
					proxy.Cut()
				}
			}
			return nil
		})
		if err != nil || runs != cut.want {
			t.Errorf("Read() with a cut after %d statements = %v after %d attempts, want nil, %d", cut.before, err, runs, cut.want)
		}
	}
}

// testManyLost loses the answers to more commits at a time than the pool has connections.
func testManyLost(t *testing.T, server *pg.Server) {
	proxy := server.Proxy(t)
	c := newCounter(t, proxy.URL(server.URL()), postgres.Options{Timeout: 5 * time.Second})
	const n = 8
	var begun, all sync.WaitGroup
	begun.Add(n)
	for i := range n {
		all.Go(func() {
			runs := 0
			name := fmt.Sprint("dev", i)
			err := c.Write(t.Context(), name, func(tx store.Tx) error {
				_, _ = tx.Environment(name)
				if runs++; runs == 1 {
					begun.Done()
					begun.Wait()
					proxy.Drop.Store(n)
				}
				return tx.PutEnvironment(store.Environment{Name: name})
			})
			if err != nil || runs != 1 {
				t.Errorf("Write() = %v after %d attempts, want nil, 1", err, runs)
			}
		})
	}
	all.Wait()
}

// TestRestart restarts the server and cuts connections while transactions run.
func TestRestart(t *testing.T) {
	server := pg.Start(t)
	proxy := server.Proxy(t)
	c := newCounter(t, proxy.URL(server.URL()), postgres.Options{})
	count := c.run(t, 200, func() {
		for _, mode := range []string{"fast", "immediate", "cut", "cut"} {
			time.Sleep(20 * time.Millisecond)
			if proxy.Cut(); mode != "cut" {
				server.Stop(t, mode)
				server.Restart(t)
			}
		}
	})
	if count != 800 || c.began.Load() == 800 {
		t.Errorf("count = %d after 800 increments and %d attempts, want 800 and more attempts", count, c.began.Load())
	}
}

// testStopped stops a process in a transaction, as SIGSTOP or a lost network do. Others get the lock after a while.
func testStopped(t *testing.T, server *pg.Server) {
	c := newCounter(t, server.URL(), postgres.WithIdle(100*time.Millisecond))
	runs := 0
	err := c.Write(t.Context(), "dev", func(tx store.Tx) error {
		runs++
		e, err := tx.Environment("dev")
		if e.Last++; runs == 1 {
			must.Do(t, c.increment(t.Context()))
		}
		return errors.Join(err, tx.PutEnvironment(e))
	})
	if count := c.run(t, 0, nil); err != nil || runs != 2 || count != 2 {
		t.Errorf("Write() = %v after %d attempts, count = %d, want nil, 2, 2", err, runs, count)
	}
}

// testWait waits for another writer too long, or until it is interrupted.
func testWait(t *testing.T, server *pg.Server) {
	url := server.URL() + "&application_name=wait"
	c, other := newCounter(t, url, postgres.Options{}), newCounter(t, url, postgres.Options{Timeout: 200 * time.Millisecond})
	must.Do(t, c.Write(t.Context(), "dev", func(tx store.Tx) error {
		if _, err := tx.Environment("dev"); err != nil { // takes the lock
			return err
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("interrupted"))
		defer cancel()
		if err := other.increment(ctx); err == nil || err.Error() != "interrupted" {
			t.Errorf("interrupted Write() = %v, want the cause", err)
		}
		want := fmt.Sprintf("postgres://127.0.0.1:%d/postgres: no answer for 200ms: the server is overloaded, or another process does not end its transaction", server.Port)
		if err := other.increment(t.Context()); err == nil || err.Error() != want {
			t.Errorf("Write() = %v, want %s", err, want)
		}
		limited := newCounter(t, server.URL()+"&options=-c%20statement_timeout%3D50", postgres.Options{})
		want = fmt.Sprintf("postgres://127.0.0.1:%d/postgres: canceling statement due to statement timeout (SQLSTATE 57014)", server.Port)
		err := limited.Write(t.Context(), "dev", func(tx store.Tx) error {
			_, _ = tx.Environment("dev")
			if err := limited.increment(t.Context()); err == nil || err.Error() != want {
				t.Errorf("Write() with a timeout = %v, want %s", err, want)
			}
			return nil
		})
		if err != nil {
			return err
		}
		// Another environment has its own lock.
		must.Do(t, other.Write(t.Context(), "prod", func(tx store.Tx) error { return tx.PutEnvironment(store.Environment{Name: "prod"}) }))
		return nil
	}))
	must.Do(t, other.increment(t.Context()))
	if running := server.Query(t, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'wait'"); running != "0" {
		t.Errorf("%s statements still wait for the lock, want 0", running)
	}
}

// testRoundTrips counts the answers of the server to a transaction like those of a step.
func testRoundTrips(t *testing.T, server *pg.Server) {
	proxy := server.Proxy(t)
	c := newCounter(t, proxy.URL(server.URL()), postgres.Options{})
	var id int64
	must.Do(t, c.Write(t.Context(), "dev", func(tx store.Tx) (err error) {
		id, err = tx.AddJob(store.Job{Environment: "dev", State: store.Running}, store.Content{})
		return err
	}))
	step := func() {
		must.Do(t, c.Write(t.Context(), "dev", func(tx store.Tx) error {
			_, err := tx.Touch(id, 0, store.Running)
			return errors.Join(err, tx.PutStep(store.Step{Deployment: id, Number: 1}), tx.AddEvents("dev", []store.Event{{Deployment: id}, {}}))
		}))
	}
	time.Sleep(100 * time.Millisecond) // until others were notified, on the connection that is used next
	step()                             // prepares statements
	before := proxy.Sent.Load()
	for range 10 {
		step()
	}
	if sent := proxy.Sent.Load() - before; sent != 20 {
		t.Errorf("10 transactions took %d round trips, want 20", sent)
	}
}
