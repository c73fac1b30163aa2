// Command lumi-resource-library is a test plugin for 'lumi provider test'. Its configuration selects its bugs.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

const (
	shelfType tokens.Type = "library:index:Shelf"
	bookType  tokens.Type = "library:index:Book"
	cardType  tokens.Type = "library:index:Card"
	findType  tokens.Type = "library:index:FindShelf"
)

// shelf is a resource named by programs.
type shelf struct {
	Name    string
	Floor   *float64
	Address string
}

// Lumi implements lumi.Object.
func (s *shelf) Lumi(p *lumi.Props) {
	lumi.Required(p, "name", &s.Name, lumi.With(lumi.String, lumi.MaxLength(40)), lumi.Replaces)
	lumi.Optional(p, "floor", &s.Floor, lumi.Number)
	lumi.Required(p, "address", &s.Address, lumi.String, lumi.Out, lumi.Fixed)
}

// book is a resource not named by programs. It refers to a shelf.
type book struct {
	Title string
	Shelf urn.URN
	Place string
	PIN   *string
}

// Lumi implements lumi.Object.
func (b *book) Lumi(p *lumi.Props) {
	lumi.Required(p, "title", &b.Title, lumi.String, lumi.Replaces)
	lumi.Required(p, "shelf", &b.Shelf, lumi.Capability(shelfType))
	lumi.Required(p, "place", &b.Place, lumi.String)
	lumi.Optional(p, "pin", &b.PIN, lumi.String, lumi.Secret)
}

// card is a resource missing from all fixtures.
type card struct{ Name string }

// Lumi implements lumi.Object.
func (c *card) Lumi(p *lumi.Props) { lumi.Required(p, "name", &c.Name, lumi.String) }

// findShelf is a function that finds a shelf by its name.
type findShelf struct {
	Name    string
	Floor   *float64
	Address string
}

// Lumi implements lumi.Object.
func (f *findShelf) Lumi(p *lumi.Props) {
	lumi.Required(p, "name", &f.Name, lumi.With(lumi.String, lumi.MinLength(1)))
	lumi.Optional(p, "floor", &f.Floor, lumi.Number, lumi.Out)
	lumi.Required(p, "address", &f.Address, lumi.String, lumi.Out)
}

type config struct {
	Bug   *string
	Token *string
}

// Lumi implements lumi.Object.
func (c *config) Lumi(p *lumi.Props) {
	lumi.Optional(p, "bug", &c.Bug, lumi.String)
	lumi.Optional(p, "token", &c.Token, lumi.String, lumi.Secret)
}

// bug selects a misbehavior of the provider.
var bug string

func configure(_ context.Context, c *config) error {
	if c.Bug != nil {
		bug = *c.Bug
	}
	if os.Getenv("LIBRARY_TOKEN") == "required" && c.Token == nil {
		return errors.Join(lumi.Faultf("token", "is required, but missing"), lumi.Faultf("hours[0]", "is required, but missing"))
	}
	if bug == "refuse" {
		return lumi.Faultf("token", "expired")
	}
	return nil
}

// store holds the existing resources of a type.
type store[T any] struct {
	mu  sync.Mutex
	all map[lumi.ID]T
}

func (s *store[T]) put(id lumi.ID, one T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[lumi.ID]T{}
	}
	s.all[id] = one
}

func (s *store[T]) get(id lumi.ID) (*T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.all[id]
	if !ok {
		return nil, lumi.ErrNotFound
	}
	return &one, nil
}

func (s *store[T]) drop(id lumi.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, id)
}

// stock holds the shelves of a library with the bug "stocked", which has resources that nobody has created and a default.
var stock = map[lumi.ID]shelf{
	"shelf-oak": {Name: "oak", Floor: new(1.0), Address: "shelf oak"}, "shelf-elm": {Name: "elm", Floor: new(2.0), Address: "shelf elm"},
	"shelf-attic": {Name: "attic", Floor: new(10.0), Address: "shelf attic"}, "shelf-new": {Address: "shelf new"}, "shelf-elm-2": {Name: "elm", Address: "shelf elm 2"},
}

type shelves struct{ store[shelf] }

type shelfState = lumi.State[*shelf]

func (s *shelves) Check(_ context.Context, want *shelfState) error {
	f := &want.Properties.Floor
	if *f != nil && **f > 9 {
		return lumi.Faultf("floor", "is greater than 9")
	}
	if *f == nil && bug == "stocked" {
		*f = new(1.0)
	}
	return nil
}

func (s *shelves) Create(ctx context.Context, want *shelfState) (lumi.ID, error) {
	p := want.Properties
	switch bug {
	case "crash":
		os.Exit(7)
	case "hang":
		<-ctx.Done()
		return "", ctx.Err()
	case "fail":
		return "", errors.New("the library is closed")
	}
	p.Address = "shelf " + p.Name
	id := lumi.ID(p.Name)
	s.put(id, *p)
	return id, nil
}

func (s *shelves) Get(_ context.Context, id lumi.ID, _ *shelfState) (*shelf, error) {
	if one, ok := stock[id]; ok && bug == "stocked" {
		return &one, nil
	} else if id == "shelf-closed" {
		return nil, errors.New("the library is closed")
	}
	found, err := s.get(id)
	if err == nil && bug == "floor" {
		found.Floor = nil
	}
	return found, err
}

func (s *shelves) Update(_ context.Context, old, want *shelfState, _ *lumi.Diff) error {
	if bug == "update" {
		return errors.New("the shelf is nailed down")
	}
	s.put(old.ID, *want.Properties)
	return nil
}

func (s *shelves) Delete(ctx context.Context, old *shelfState) error {
	if bug == "stuck" {
		<-ctx.Done()
		return ctx.Err()
	}
	if bug == "delete" {
		return errors.New("the shelf is nailed down")
	}
	s.drop(old.ID)
	return nil
}

// Upgrade reads the floor from its location in earlier versions.
func (s *shelves) Upgrade(_ context.Context, old *shelfState, stored lumi.Bag) error {
	if level, ok := stored.Get("level").(float64); ok && bug != "upgrade" {
		old.Properties.Floor = &level
	}
	return nil
}

func (s *shelves) find(_ context.Context, call *findShelf, _ lumi.References) error {
	found, err := s.get(lumi.ID(call.Name))
	if err != nil {
		return fmt.Errorf("shelf %q: %w", call.Name, err)
	}
	call.Floor, call.Address = found.Floor, found.Address
	return nil
}

type books struct{ store[book] }

type bookState = lumi.State[*book]

func (b *books) Check(context.Context, *bookState) error { return nil }

func (b *books) Name(_ context.Context, want *bookState) (string, error) {
	return want.Properties.Title, nil
}

func (b *books) Create(ctx context.Context, want *bookState) (lumi.ID, error) {
	ref, ok := want.Refs.Resolve(want.Properties.Shelf)
	if !ok {
		return "", fmt.Errorf("there is no shelf %s", want.Properties.Shelf)
	}
	if bug == "wait" {
		<-ctx.Done()
		return "", ctx.Err()
	}
	id := lumi.ID(string(ref.ID) + "/" + want.Properties.Title)
	b.put(id, *want.Properties)
	if bug == "log" && want.Properties.PIN != nil {
		fmt.Fprintf(os.Stderr, "created with %s\n", *want.Properties.PIN) // bypasses the masked log of package serve
	}
	return id, nil
}

func (b *books) Get(_ context.Context, id lumi.ID, _ *bookState) (*book, error) {
	if on, title, ok := strings.Cut(string(id), "/"); ok && bug == "stocked" {
		one := &book{Title: title, Place: "left", PIN: new("hunter2")}
		if strings.HasPrefix(on, "shelf-") {
			one.Shelf = urn.ByID(shelfType, on)
		} else if on != "" {
			one.Shelf = urn.URN("urn:lumi:old::site:index::library:index:Shelf::" + on)
		}
		return one, nil
	}
	found, err := b.get(id)
	if err == nil && bug == "pin" && found.PIN != nil {
		*found = book{Title: *found.PIN, Shelf: found.Shelf, Place: found.Place, PIN: found.PIN}
	}
	return found, err
}

func (b *books) InspectChange(_ context.Context, old, want *bookState, diff *lumi.Diff) error {
	if bug != "ignore" && strings.EqualFold(old.Properties.Place, want.Properties.Place) {
		diff.Ignore("place")
	}
	return nil
}

func (b *books) Update(_ context.Context, old, want *bookState, _ *lumi.Diff) error {
	b.put(old.ID, *want.Properties)
	return nil
}

func (b *books) Delete(_ context.Context, old *bookState) error {
	b.drop(old.ID)
	return nil
}

type cards struct{}

type cardState = lumi.State[*card]

func (cards) Check(context.Context, *cardState) error                 { return nil }
func (cards) Create(context.Context, *cardState) (lumi.ID, error)     { return "", errors.ErrUnsupported }
func (cards) Get(context.Context, lumi.ID, *cardState) (*card, error) { return nil, lumi.ErrNotFound }
func (cards) Update(context.Context, *cardState, *cardState, *lumi.Diff) error {
	return errors.ErrUnsupported
}
func (cards) Delete(context.Context, *cardState) error { return nil }

func main() {
	all := &shelves{}
	s := lumi.NewNamedProvider(shelfType, func() *shelf { return new(shelf) }, all)
	b := lumi.NewProvider(bookType, func() *book { return new(book) }, &books{})
	c := lumi.NewNamedProvider(cardType, func() *card { return new(card) }, cards{})
	serve.Main(serve.Plugin{
		Package: "library", Version: "1.2.0", Configure: serve.Configure(configure),
		Resources: map[tokens.Type]lumi.ResourceProvider{shelfType: &s, bookType: &b, cardType: &c},
		Functions: map[tokens.Type]lumi.Function{
			findType: lumi.NewFunction(findType, func() *findShelf { return new(findShelf) }, all.find),
		},
	})
}
