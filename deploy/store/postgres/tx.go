package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/relational"
)

// tx implements [relational.Database]. It keeps statements back until a result is needed.
type tx struct {
	*Store
	conn  *pgx.Conn
	ctx   context.Context // limits the wait for the lock
	begin string
	lock  *int64 // nil for a transaction that only reads

	begun bool
	now   int64 // in microseconds since 1970
	kept  []statement
	err   error // the first error
}

type statement struct {
	sql  string
	args []any
}

func (t *tx) relational() *relational.Tx {
	return relational.New(t, relational.Options{
		Clock: t.clock, Write: t.lock != nil, Elements: "SELECT CAST(value AS bigint) FROM json_array_elements_text(CAST($1 AS json))",
	})
}

// clock returns the time at which the lock was granted.
func (t *tx) clock() time.Time {
	if !t.begun {
		_ = t.send(t.ctx, nil) // commit returns the error
	}
	if t.Clock != nil {
		return t.Clock().UTC().Truncate(time.Microsecond)
	}
	return time.UnixMicro(t.now).UTC()
}

const started = `SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)`

// lockStatement takes the lock before it evaluates the columns.
const lockStatement = started + `,
	set_config('idle_in_transaction_session_timeout', $2, true) FROM pg_advisory_xact_lock($1)`

// unlockedStatement is used by a test.
const unlockedStatement = started + `, '' WHERE CAST($1 AS bigint) <> 0`

// send sends the statements kept back in one round trip, and a last one if it is not nil.
func (t *tx) send(ctx context.Context, last func(*pgx.Batch)) error {
	if t.err != nil {
		return t.err
	}
	var b pgx.Batch
	if !t.begun {
		t.begun = true
		b.Queue(t.begin)
		var unused string
		switch {
		case t.lock == nil:
			b.Queue(started).QueryRow(func(row pgx.Row) error { return row.Scan(&t.now) })
		case t.noLock:
			b.Queue(unlockedStatement, *t.lock).QueryRow(func(row pgx.Row) error { return row.Scan(&t.now, &unused) })
		default:
			b.Queue(lockStatement, *t.lock, strconv.FormatInt(t.idle.Milliseconds(), 10)).QueryRow(func(row pgx.Row) error { return row.Scan(&t.now, &unused) })
		}
	}
	for _, s := range t.kept {
		b.Queue(s.sql, s.args...)
	}
	t.kept = t.kept[:0]
	if last != nil {
		last(&b)
	}
	t.err = t.conn.SendBatch(ctx, &b).Close()
	return t.err
}

// limited returns a context for statements after the first, which an interrupt must not cut off.
func (t *tx) limited() (context.Context, context.CancelFunc) {
	if !t.begun {
		return context.WithCancel(t.ctx)
	}
	return context.WithTimeout(context.WithoutCancel(t.ctx), t.Timeout)
}

// Query implements [relational.Database].
func (t *tx) Query(sql string, args, fields []any, row func()) error {
	ctx, cancel := t.limited()
	defer cancel()
	return t.send(ctx, func(b *pgx.Batch) {
		b.Queue(t.tables.Replace(sql), args...).Query(func(rows pgx.Rows) error {
			_, err := pgx.ForEachRow(rows, fields, func() error { row(); return nil })
			return err
		})
	})
}

// maxKept is the number of statements after which they are sent.
const maxKept = 1000

// Exec implements [relational.Database]. It keeps the statement back.
func (t *tx) Exec(sql string, args []any) error {
	if t.err != nil {
		return t.err
	}
	t.kept = append(t.kept, statement{t.tables.Replace(sql), args})
	if len(t.kept) < maxKept {
		return nil
	}
	ctx, cancel := t.limited()
	defer cancel()
	return t.send(ctx, nil)
}

// Change implements [relational.Database].
func (t *tx) Change(sql string, args []any) (n int64, err error) {
	ctx, cancel := t.limited()
	defer cancel()
	err = t.send(ctx, func(b *pgx.Batch) {
		b.Queue(t.tables.Replace(sql), args...).Exec(func(tag pgconn.CommandTag) error { n = tag.RowsAffected(); return nil })
	})
	return n, err
}

// rollback ends the transaction. If it fails, the pool closes the connection.
func (t *tx) rollback() {
	if t.begun && !t.conn.IsClosed() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), time.Second)
		defer cancel()
		_, _ = t.conn.Exec(ctx, "ROLLBACK")
	}
}

// failure returns the error of the transaction: a *brokenError if it can be repeated. An error while the connection is open
// is the server's, or one of this process, such as a value that cannot be encoded.
func (t *tx) failure() error {
	if _, isServer := errors.AsType[*pgconn.PgError](t.err); !isServer && !t.conn.IsClosed() {
		return t.err
	}
	return broken(t.err)
}

// commit sends the statements kept back, and COMMIT. It returns a *brokenError if nothing was written, and
// [store.ErrUncertain] if that is unknown.
func (t *tx) commit() error {
	if !t.begun && len(t.kept) == 0 {
		return nil
	}
	if t.lock == nil {
		t.rollback() // what was read is valid, even if the connection breaks now
		return nil
	}
	if !t.begun && t.send(t.ctx, nil) != nil { // An interrupt ends only the wait for the lock.
		defer t.rollback()
		return t.failure()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), t.Timeout)
	defer cancel()
	me := sessionOf(t.conn)
	me.number++
	t.kept = append(t.kept, statement{t.tables.Replace(outcomeStatement), []any{*t.lock, me.id, me.number}})
	ended := false
	err := t.send(ctx, func(b *pgx.Batch) {
		b.Queue("COMMIT").Exec(func(tag pgconn.CommandTag) error {
			if ended = tag.String() == "COMMIT"; !ended {
				return errors.New("the server has rolled back the transaction")
			}
			return nil
		})
	})
	switch failed := t.failure(); {
	case err == nil || ended:
		return nil
	case !isBroken(failed) || t.noStatus:
		t.rollback()
		return failed
	default:
		return t.outcome(ctx, me, failed)
	}
}

// session is a connection, as its transactions identify themselves. After its connection broke, it makes no others.
type session struct {
	id     string
	number int64 // of the last transaction
}

func sessionOf(c *pgx.Conn) *session {
	data := c.PgConn().CustomData()
	if data["session"] == nil {
		data["session"] = &session{id: rand.Text()}
	}
	return data["session"].(*session)
}

const outcomeStatement = `INSERT INTO @outcome (lock, session, number, seen) VALUES ($1, $2, $3, CAST(extract(epoch FROM clock_timestamp()) AS bigint))
	ON CONFLICT (lock, session) DO UPDATE SET number = excluded.number, seen = excluded.seen`

// outcome asks the server, over a new connection, whether a transaction was committed. If not, it returns failed.
func (t *tx) outcome(ctx context.Context, me *session, failed error) error {
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		last, err := t.last(ctx, me)
		switch {
		case err == nil && last == me.number:
			return nil
		case err == nil:
			return failed // and nothing was written
		}
		select {
		case <-ctx.Done():
			// The other error is not wrapped, or the transaction would look like one that can be repeated.
			return fmt.Errorf("%w: %s", store.ErrUncertain, cmp.Or(err, failed).Error())
		case <-time.After(pause):
		}
	}
}

// last returns the number of the last committed transaction of a session under the lock, or 0. It waits for the lock, which
// the server keeps until a transaction has ended. It does not use the pool, whose connections may all be held by transactions
// that ask.
func (t *tx) last(ctx context.Context, of *session) (number int64, err error) {
	c, err := pgx.ConnectConfig(ctx, t.pool.Config().ConnConfig)
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	err = pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", *t.lock); err != nil {
			return err
		}
		return tx.QueryRow(ctx, t.tables.Replace("SELECT coalesce(max(number), 0) FROM @outcome WHERE lock = $1 AND session = $2"), *t.lock, of.id).
			Scan(&number)
	})
	return number, err
}
