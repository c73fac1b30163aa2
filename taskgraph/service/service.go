package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/run"
	"github.com/lumi-idl/lumi/taskgraph/tasktype"
)

// Service implements [API] on a store. Each operation is a transaction.
type Service struct {
	Store store.Store
	Types tasktype.Registry
	// Inventory returns the nodes of an environment and its state for conditions and refresh_on. The state may be nil.
	Inventory func(ctx context.Context, environment string) (*inventory.Inventory, *lumigl.Snapshot, error)
	// CheckSources returns the problems with the files that a task copies to a node. It may be nil.
	CheckSources func(t *taskgraph.Spec, n *inventory.Node) []string
	// Engine returns the engine of an environment.
	Engine func(environment string) *run.Engine
	// Go executes a run that was started by Start or continued by Resume. If it is nil, the caller must execute the
	// run.
	Go func(environment string, id int64)
	// Remote rejects runs on nodes with a local connection.
	Remote bool
}

var _ API = (*Service)(nil)

func fail(k Kind, format string, args ...any) error { return &Error{k, fmt.Sprintf(format, args...)} }

// view is a transaction with the rows that operations need, as read at its start.
type view struct {
	store.Tx
	service    *Service
	releases   []store.Release
	selections []store.Selection
	graphs     []store.TaskGraph
	// err is the first error. Once it is set, methods return zero values and make no changes.
	err error
}

// reload reads the rows again, after a change.
func (v *view) reload() {
	if v.err == nil {
		var errs [3]error
		v.releases, errs[0] = v.Releases()
		v.selections, errs[1] = v.Selections()
		v.graphs, errs[2] = v.Graphs()
		v.err = errors.Join(errs[:]...)
	}
}

// fail records an error unless there already is one.
func (v *view) fail(k Kind, format string, args ...any) {
	if v.err == nil {
		v.err = fail(k, format, args...)
	}
}

// read runs f in a read-only transaction, and write in a read-write transaction.
func read[R any](ctx context.Context, s *Service, f func(*view) R) (R, error) {
	return in(ctx, s, s.Store.Read, f)
}

func write[R any](ctx context.Context, s *Service, f func(*view) R) (R, error) {
	// Effective graphs combine graphs of several owners, so writers must exclude each other.
	transact := func(ctx context.Context, f func(store.Tx) error) error { return s.Store.Write(ctx, "", f) }
	return in(ctx, s, transact, f)
}

func in[R any](ctx context.Context, s *Service, transact func(context.Context, func(store.Tx) error) error, f func(*view) R) (r R, err error) {
	err = transact(ctx, func(tx store.Tx) error {
		v := &view{Tx: tx, service: s}
		if v.reload(); v.err == nil {
			r = f(v)
		}
		return v.err
	})
	if err != nil {
		r = *new(R)
	}
	return r, err
}

// environment records an error if the environment does not exist.
func (v *view) environment(name string) {
	if v.err != nil {
		return
	}
	if _, err := v.Environment(name); !errors.Is(err, store.ErrNotFound) {
		v.err = err
	} else if names := v.names(); v.err == nil {
		v.fail(NotFound, "environment %s does not exist%s", name, cmp.Or(suggest.DidYouMean(name, names), "; 'lumi env new NAME' creates one"))
	}
}

// names returns the names of all environments.
func (v *view) names() (names []string) {
	all, err := v.Environments()
	v.err = cmp.Or(v.err, err)
	for _, e := range all {
		names = append(names, e.Name)
	}
	return names
}

func (v *view) release(layer store.Layer, id int64) Release {
	i := slices.IndexFunc(v.releases, func(r Release) bool { return r.ID == id && r.Layer == layer })
	if i < 0 {
		v.fail(NotFound, "%s %d does not exist", layer, id)
		return Release{}
	}
	return v.releases[i]
}

// owner returns the name of an owner, such as "cluster prod", and the owner with only the fields used by its layer.
func (v *view) owner(o store.Owner) (string, store.Owner) {
	switch o.Layer {
	case store.ClusterLayer:
		v.environment(o.Environment)
		return "cluster " + o.Environment, store.Owner{Layer: o.Layer, Environment: o.Environment}
	case store.ReleaseLayer, store.PluginLayer:
		return v.release(o.Layer, o.ID).String(), store.Owner{Layer: o.Layer, ID: o.ID}
	}
	v.unknown(o.Layer)
	return "", o
}

func (v *view) unknown(l store.Layer) {
	v.fail(Invalid, "unknown layer %q; expected release, cluster, or plugin", l)
}

var validVersion = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+~-]{0,127}$`)

// AddRelease implements [API].
func (s *Service) AddRelease(ctx context.Context, r Release) (Release, error) {
	if r.Layer != store.ReleaseLayer && r.Layer != store.PluginLayer {
		return Release{}, fail(Invalid, "unknown layer %q; expected release or plugin", r.Layer)
	}
	if err := taskgraph.CheckName(string(r.Layer)+" name", r.Name); err != nil {
		return Release{}, fail(Invalid, "%v", err)
	}
	if !validVersion.MatchString(r.Version) {
		return Release{}, fail(Invalid, "invalid version %q; use a letter or digit, then up to 127 letters, digits, _, -, ., +, and ~", r.Version)
	}
	return write(ctx, s, func(v *view) Release {
		if r.ID, v.err = v.AddRelease(r); errors.Is(v.err, store.ErrExists) {
			v.err = fail(Conflict, "%s already exists", r)
		}
		return r
	})
}

// Releases implements [API].
func (s *Service) Releases(ctx context.Context, layer store.Layer) ([]Release, error) {
	return read(ctx, s, func(v *view) []Release {
		return slices.DeleteFunc(append([]Release{}, v.releases...), func(r Release) bool { return r.Layer != layer })
	})
}

// DeleteRelease implements [API].
func (s *Service) DeleteRelease(ctx context.Context, layer store.Layer, id int64) error {
	_, err := write(ctx, s, func(v *view) any {
		r := v.release(layer, id)
		if users := v.users(store.Owner{Layer: layer, ID: id}); len(users) > 0 {
			v.fail(Conflict, "%s is in use: select another one for %s first", r, strings.Join(users, ", "))
		}
		if v.err == nil {
			v.err = v.DeleteRelease(id)
		}
		return nil
	})
	return err
}

// users returns the environments that use an owner's graphs.
func (v *view) users(o store.Owner) (names []string) {
	return slices.DeleteFunc(v.names(), func(name string) bool { return !slices.Contains(owners(v.selection(name), nil), o) })
}

// defaultOrder is the default order of the layers, in which later layers override earlier ones.
var defaultOrder = []store.Layer{store.ReleaseLayer, store.ClusterLayer, store.PluginLayer}

// selection returns the selection of an environment. Its Order is never nil.
func (v *view) selection(environment string) store.Selection {
	s := store.Selection{Environment: environment}
	if i := slices.IndexFunc(v.selections, func(s store.Selection) bool { return s.Environment == environment }); i >= 0 {
		s = v.selections[i]
	}
	if s.Order == nil {
		s.Order = defaultOrder
	}
	return s
}

// owners returns the owners of the selected layers in merge order. If only is not nil, other layers are omitted.
func owners(s store.Selection, only []store.Layer) (all []store.Owner) {
	for _, l := range s.Order {
		switch {
		case only != nil && !slices.Contains(only, l):
		case l == store.ReleaseLayer:
			all = append(all, store.Owner{Layer: l, ID: s.Release})
		case l == store.ClusterLayer:
			all = append(all, store.Owner{Layer: l, Environment: s.Environment})
		default:
			for _, id := range s.Plugins {
				all = append(all, store.Owner{Layer: l, ID: id})
			}
		}
	}
	return all
}

// Clusters implements [API].
func (s *Service) Clusters(ctx context.Context) ([]Cluster, error) {
	return read(ctx, s, func(v *view) []Cluster {
		all := []Cluster{}
		for _, name := range v.names() {
			all = append(all, Cluster{Name: name})
		}
		return all
	})
}

// Selection implements [API].
func (s *Service) Selection(ctx context.Context, environment string) (Selection, error) {
	return read(ctx, s, func(v *view) Selection { return v.resolve(v.selection(environment)) })
}

// resolve returns a selection with its release and plugins. It records an error if the environment, the release, or a
// plugin does not exist.
func (v *view) resolve(row store.Selection) Selection {
	s := Selection{Environment: row.Environment, Plugins: make([]Release, len(row.Plugins)), Order: slices.Clone(row.Order), Whole: row.Whole}
	v.environment(row.Environment)
	if row.Release != 0 {
		r := v.release(store.ReleaseLayer, row.Release)
		s.Release = &r
	}
	for i, id := range row.Plugins {
		s.Plugins[i] = v.release(store.PluginLayer, id)
	}
	return s
}

// Use implements [API].
func (s *Service) Use(ctx context.Context, u Selection) (Selection, error) {
	row := store.Selection{Environment: u.Environment, Order: u.Order, Whole: u.Whole}
	if u.Release != nil {
		row.Release = u.Release.ID
	}
	for _, p := range u.Plugins {
		if slices.Contains(row.Plugins, p.ID) {
			return Selection{}, fail(Invalid, "plugin %d is selected twice", p.ID)
		}
		row.Plugins = append(row.Plugins, p.ID)
	}
	if len(row.Order) == 0 {
		row.Order = defaultOrder
	} else if !slices.Equal(slices.Sorted(slices.Values(u.Order)), slices.Sorted(slices.Values(defaultOrder))) {
		return Selection{}, fail(Invalid, "the order must list release, cluster, and plugin exactly once")
	}
	return write(ctx, s, func(v *view) Selection {
		used := v.resolve(row)
		if v.err == nil {
			v.err = v.PutSelection(row)
		}
		v.reload()
		v.check([]string{u.Environment}, "")
		return used
	})
}
