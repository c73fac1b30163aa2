package relational

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
)

// table holds the SQL statements for a table with rows of type T. The statement add leaves out the first column, which the
// database generates.
type table[T any] struct {
	name                           string
	insert, add, put, update, list string
	// fields returns pointers to the fields for a row's columns, used to scan and bind values.
	fields func(*T) []any
}

// define returns a table. Its primary key consists of the first keys columns.
func define[T any](name string, keys int, columns string, fields func(*T) []any) *table[T] {
	all := strings.Fields(columns)
	params, sets, put := make([]string, len(all)), make([]string, len(all)), make([]string, len(all))
	for i, c := range all {
		params[i] = fmt.Sprintf("$%d", i+1)
		sets[i] = c + " = " + params[i]
		put[i] = c + " = excluded." + c
	}
	values := func(first int) string {
		return "INSERT INTO @" + name + " (" + strings.Join(all[first:], ", ") + ") VALUES (" + strings.Join(params[:len(all)-first], ", ") + ")"
	}
	t := &table[T]{name: name, fields: fields, insert: values(0), add: values(1)}
	t.list = "SELECT " + strings.Join(all, ", ") + " FROM @" + name + " "
	t.put = t.insert + " ON CONFLICT (" + strings.Join(all[:keys], ", ") + ") DO UPDATE SET " + strings.Join(put[keys:], ", ")
	t.update = "UPDATE @" + name + " SET " + strings.Join(sets[keys:], ", ") + " WHERE " + strings.Join(sets[:keys], " AND ")
	return t
}

type (
	vertexRow struct {
		environment string
		store.Vertex
	}
	contentRow struct {
		deployment int64
		store.Content
	}
	eventRow struct {
		environment string
		store.Event
	}
	taskRunRow struct {
		run int64
		store.TaskRun
	}
)

var (
	environments = define("environment", 1, "name lineage key serial last", func(e *store.Environment) []any {
		return []any{&e.Name, &e.Lineage, &e.Key, &e.Serial, &e.Last}
	})
	vertices = define("vertex", 2, "environment key text", func(v *vertexRow) []any {
		return []any{&v.environment, &v.Key, &v.Text}
	})
	deployments = define("deployment", 1,
		"id environment number module purpose uses place state fence owner expires abort message created ended",
		func(d *store.Job) []any {
			return []any{
				&d.ID, &d.Environment, &d.Number, &d.Module, &d.Kind, &array[string]{&d.Uses}, &d.Place, &d.State, &d.Fence,
				&d.Owner, (*micros)(&d.Expires), &d.Abort, &d.Message, (*micros)(&d.Created), (*micros)(&d.Ended),
			}
		})
	contents = define("content", 1, "deployment desired shown request", func(c *contentRow) []any {
		return []any{&c.deployment, &c.Desired, &c.Shown, &c.Request}
	})
	tasks = define("task", 2, "deployment number provisioner steps state token parts message", func(t *store.Task) []any {
		return []any{&t.Deployment, &t.Number, &t.Provisioner, &t.Steps, &t.State, &t.Token, &t.Parts, &t.Message}
	})
	steps = define("step", 2, "deployment number task state kind urn oldkey oldid new token owner deadline message",
		func(s *store.Step) []any {
			return []any{
				&s.Deployment, &s.Number, &s.Task, &s.State, &s.Kind, &s.URN, &s.OldKey, &s.OldID, &s.New, &s.Token,
				&s.Owner, (*micros)(&s.Deadline), &s.Message,
			}
		})
	workers = define("worker", 2, "environment owner host boot seen draining", func(w *store.Worker) []any {
		return []any{&w.Environment, &w.Owner, &w.Host, &w.Boot, (*micros)(&w.Seen), &w.Draining}
	})
	events = define("event", 1, "serial environment time deployment name task urn source kind was id state level message",
		func(e *eventRow) []any {
			return []any{
				&e.Serial, &e.environment, (*micros)(&e.Time), &e.Deployment, &e.Name, &e.Task, &e.URN, &e.Source, &e.Kind, &e.Was,
				&e.ID, &e.State, &e.Level, &e.Message,
			}
		})
	releases = define("release", 1, "id layer name version", func(r *store.Release) []any {
		return []any{&r.ID, &r.Layer, &r.Name, &r.Version}
	})
	selections = define("selection", 1, "environment release plugins layers whole", func(s *store.Selection) []any {
		return []any{&s.Environment, &s.Release, &array[int64]{&s.Plugins}, &array[store.Layer]{&s.Order}, &s.Whole}
	})
	graphs = define("graph", 1, "id layer release environment type name tasks", func(g *store.TaskGraph) []any {
		return []any{
			&g.ID, &g.Owner.Layer, optional[int64]{&g.Owner.ID}, optional[string]{&g.Owner.Environment}, &g.Type, &g.Name,
			&array[int64]{&g.Order},
		}
	})
	graphTasks = define("graphtask", 1, "id graph name content", func(r *store.GraphTask) []any {
		return []any{&r.ID, &r.Graph, &r.Name, &r.Content}
	})
	taskRuns = define("taskrun", 2, "run number task node state digest refresh owner attempt started ended message tolerated",
		func(r *taskRunRow) []any {
			return []any{
				&r.run, &r.Number, &r.Task, &r.Node, &r.State, &r.Digest, &r.Refresh, &r.Owner, &r.Attempt,
				(*micros)(&r.Started), (*micros)(&r.Ended), &r.Message, &r.Tolerated,
			}
		})
)

// array is a list stored as JSON in a text column.
type array[T any] struct{ list *[]T }

func (a *array[T]) Value() (driver.Value, error) {
	if len(*a.list) == 0 {
		return "[]", nil
	}
	text, err := json.Marshal(*a.list)
	return string(text), err
}

func (a *array[T]) Scan(v any) error {
	*a.list = nil // Rows are scanned into the same variable, but must not share its array.
	if text, _ := v.(string); text != "[]" {
		return json.Unmarshal([]byte(text), a.list)
	}
	return nil
}

// micros is a time stored as Unix microseconds.
type micros time.Time

func (m *micros) Value() (driver.Value, error) {
	if t := (*time.Time)(m); !t.IsZero() {
		return t.UnixMicro(), nil
	}
	return nil, nil
}

func (m *micros) Scan(v any) error {
	*m = micros{}
	if n, ok := v.(int64); ok {
		*m = micros(time.UnixMicro(n).UTC())
	}
	return nil
}

// optional is a value stored as NULL if it is zero.
type optional[T comparable] struct{ value *T }

func (o optional[T]) Value() (driver.Value, error) {
	if *o.value == *new(T) {
		return nil, nil
	}
	return *o.value, nil
}

func (o optional[T]) Scan(v any) error {
	var n sql.Null[T]
	err := n.Scan(v)
	*o.value = n.V
	return err
}
