package yaql

var dictFunctions = []*Function{
	Func("#map", "*args pair", func(c *Call) (any, error) { return NewDict().with(c.pairs()) }).WithoutKeywords().
		Document("Returns a dictionary. {a => 1} calls this function.",
			`{a => 1, 'b c' => [2], 3 => 4}`, `{"a": 1, "b c": [2], "3": 4}`),
	Func("dict", "*args pair", func(c *Call) (any, error) { return NewDict().with(c.pairs()) }).WithoutKeywords().
		Document("Returns a dictionary of the arguments.", `dict(a => 1, b => 2)`, `{"a": 1, "b": 2}`),
	Func("dict", "items iterable", dictOfItems).WithoutKeywords().
		Document("Returns a dictionary of key-value pairs.", `dict([[a, 1], [b, 2]])`, `{"a": 1, "b": 2}`),
	Method("toDict", "collection iterable, keySelector lambda, valueSelector lambda=null", toDict).
		Document("Returns a dictionary with an entry for each item. Without a valueSelector, the values are the items.",
			`[a, bc].toDict($.len(), $ + x)`, `{"1": "ax", "2": "bcx"}`, `[1, 2].toDict($)`, `{"1": 1, "2": 2}`),
	Func("#indexer", "dict dict, key any", func(c *Call) (any, error) { return fetch(c.Dict(0), c.Arg(1)) }).
		Document("Returns the value of a key. A missing key is an error.", `{a => 1}[a]`, `1`, `{a => 1}[b]`, `error: key`),
	Func("#indexer", "dict dict, key any, default stored", dictGet).
		Document("Returns the value of a key, or the default if the key is missing.", `{a => 1}[b, 2]`, `2`),
	Func("#operator_.", "dict dict, key keyword", func(c *Call) (any, error) { return fetch(c.Dict(0), c.Arg(1)) }).
		Document("Returns the value of a key. A missing key is an error.", `{a => 1}.a`, `1`, `{a => 1}.b`, `error: key`),
	Method("get", "dict dict, key any, default stored=null", dictGet).
		Document("Returns the value of a key, or the default if the key is missing.", `{a => 1}.get(a)`, `1`, `{a => 1}.get(b, 2)`, `2`),
	Func("#operator_+", "left dict, right dict", mergeDicts).
		Document("Merges dictionaries. Values on the right take precedence.",
			`{a => 1, b => 2} + {b => 3}`, `{"a": 1, "b": 3}`),
	Method("set", "dict dict, key any, value stored", func(c *Call) (any, error) {
		return c.Dict(0).Clone().with([]entry{{c.Arg(1), c.Arg(2)}})
	}).WithoutKeywords().
		Document("Returns the dictionary with a key set to a value.", `{a => 1}.set(b, 2)`, `{"a": 1, "b": 2}`),
	Method("set", "dict dict, replacements dict", mergeDicts).WithoutKeywords().
		Document("Returns the dictionary with the entries of another dictionary added or replaced.",
			`{a => 1, b => 2}.set({a => 3})`, `{"a": 3, "b": 2}`),
	Method("set", "dict dict, *args pair", func(c *Call) (any, error) {
		return c.Dict(0).Clone().with(c.pairs())
	}).WithoutKeywords().
		Document("Returns the dictionary with the keys set to the values.",
			`{a => 1}.set(a => 2, b => 3)`, `{"a": 2, "b": 3}`),
	Method("mergeWith", "dict dict, another dict, listMerger lambda=null, itemMerger lambda=null, maxLevels int=0", mergeWith).
		Document("Merges dictionaries recursively, at most maxLevels deep; 0 means no limit. If both "+
			"contain a key, listMerger merges lists, and itemMerger other values. By default, lists are joined "+
			"without duplicates, and the argument's value replaces others.",
			`{a => 1, b => {c => [1, 2]}}.mergeWith({a => 2, b => {c => [2, 3], d => 4}})`, `{"a": 2, "b": {"c": [1, 2, 3], "d": 4}}`,
			`{a => 1, b => [2]}.mergeWith({a => 5, b => [3]}, $1 + $2, $1 + $2)`, `{"a": 6, "b": [2, 3]}`,
			`{a => {b => 1}}.mergeWith({a => {c => 2}}, maxLevels => 1)`, `{"a": {"c": 2}}`),
	Method("keys", "dict dict", value(func(c *Call) any { return c.Dict(0).view(false) })).
		Document("Returns the keys.", `{a => 1, b => 2}.keys()`, `["a", "b"]`),
	Method("values", "dict dict", value(func(c *Call) any { return &dictValues{c.Dict(0)} })).
		Document("Returns the values.", `{a => 1, b => 2}.values()`, `[1, 2]`),
	Method("items", "dict dict", value(func(c *Call) any { return c.Dict(0).view(true) })).
		Document("Returns key-value pairs.", `{a => 1}.items()`, `[["a", 1]]`),
	Method("containsKey", "dict dict, key any", func(c *Call) (any, error) {
		_, ok, err := c.Dict(0).Get(c.Arg(1))
		return ok, err
	}).Document("Returns whether the dictionary contains a key.", `{a => 1}.containsKey(a)`, `true`),
	Method("containsValue", "dict dict, value any", func(c *Call) (any, error) {
		return c.has(iterateSlice(c.Dict(0).Values()), c.Arg(1))
	}).Document("Returns whether the dictionary contains a value.", `{a => 1}.containsValue(2)`, `false`),
	Func("isDict", "arg any", value(func(c *Call) any { _, ok := c.Arg(0).(*Dict); return ok })).
		Document("Returns whether the value is a dictionary.", `isDict({})`, `true`, `isDict([])`, `false`),
	Extension("len", "dict dict", value(func(c *Call) any { return int64(c.Dict(0).Len()) })).
		Document("Returns the number of entries.", `{a => 1}.len()`, `1`),
	Method("delete", "dict dict, *keys any", func(c *Call) (any, error) { return without(c.Dict(0), c.Rest()) }).
		Document("Returns the dictionary without the given keys.", `{a => 1, b => 2}.delete(a, c)`, `{"b": 2}`),
	Method("deleteAll", "dict dict, keys iterable", func(c *Call) (any, error) {
		keys, err := c.Collect(c.Iter(1))
		if err != nil {
			return nil, err
		}
		return without(c.Dict(0), keys)
	}).Document("Returns the dictionary without the given keys.", `{a => 1, b => 2}.deleteAll([a, c])`, `{"b": 2}`),
}

// dictValues is a view of a dictionary's values. Unlike an iterator, it can be read repeatedly.
type dictValues struct{ *Dict }

func (d *dictValues) Iterate() *Iterator { return iterateSlice(d.Values()) }

func dictOfItems(c *Call) (any, error) {
	d := NewDict()
	return d, c.each(c.Iter(0), func(item any) (bool, error) {
		pair, err := c.parts(item)
		if err != nil {
			return false, err
		}
		var parts [2]any
		for i := range parts {
			var ok bool
			if parts[i], ok, err = pair.Next(); err != nil {
				return false, err
			} else if !ok {
				return false, errNoItem("an item of dict has less than two parts")
			}
		}
		return c.put(d, parts[0], parts[1])
	})
}

// put sets a key in a dictionary under construction. It returns an error if a limit is exceeded, and true otherwise, so
// that it can be used as a filter.
func (c *Call) put(d *Dict, key, value any) (bool, error) {
	if err := d.Set(key, value); err != nil {
		return false, err
	}
	return true, c.Reserve(d.size)
}

// parts returns the items of a collection, the keys of a dictionary, or the characters of a string.
func (c *Call) parts(v any) (*Iterator, error) {
	if s, ok := v.(string); ok {
		chars, err := c.characters(s)
		return c.Iterate(chars), err
	}
	if classOf(v)&(clAnyIter|clDict|clOpaque) == 0 {
		return nil, Errorf(TypeError, "%s has no parts", typeName(v))
	}
	return c.inner(v)
}

func toDict(c *Call) (any, error) {
	d, keyOf, valueOf := NewPlainDict(), c.Lambda(1), c.Lambda(2)
	return d, c.each(c.Iter(0), func(v any) (bool, error) {
		key, err := keyOf.Call(v)
		if err == nil && valueOf != nil {
			v, err = valueOf.Call(v)
		}
		if err != nil {
			return false, err
		}
		return c.put(d, key, v)
	})
}

func dictGet(c *Call) (any, error) {
	v, ok, err := c.Dict(0).Get(c.Arg(1))
	if err == nil && !ok {
		return c.Arg(2), nil
	}
	return v, err
}

func mergeDicts(c *Call) (any, error) { return c.Dict(0).Clone().with(c.Dict(1).entries) }

// with sets entries in d and returns d.
func (d *Dict) with(entries []entry) (any, error) {
	for _, e := range entries {
		if err := d.Set(e.key, e.value); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// pairs returns the arguments collected by *args, which must be pairs, as entries.
func (c *Call) pairs() []entry {
	entries := make([]entry, len(c.Rest()))
	for i, a := range c.Rest() {
		p := a.(*Pair)
		entries[i] = entry{p.Key, p.Value}
	}
	return entries
}

func without(d *Dict, keys []any) (any, error) {
	rest := NewPlainDict()
	if d.Len() == 0 {
		return rest, nil // even if a key is unhashable
	}
	drop, err := SetOf(keys)
	if err != nil {
		return nil, err
	}
	for k, v := range d.All() {
		if has, err := drop.Has(k); err != nil {
			return nil, err
		} else if !has {
			if err := rest.Set(k, v); err != nil {
				return nil, err
			}
		}
	}
	return rest, nil
}

func mergeWith(c *Call) (any, error) {
	m := merger{c: c, lists: c.Lambda(2), items: c.Lambda(3)}
	return m.merge(c.Dict(0), c.Dict(1), c.clamped(4))
}

type merger struct {
	c            *Call
	lists, items *Lambda
}

func (m *merger) merge(a, b *Dict, levels int) (any, error) {
	d := NewPlainDict()
	for key, v := range a.All() {
		w, both, err := b.Get(key)
		if err == nil && both {
			v, err = m.value(v, w, levels)
		}
		if err == nil {
			_, err = m.c.put(d, key, v)
		}
		if err != nil {
			return nil, err
		}
	}
	for key, v := range b.All() {
		if _, ok, err := d.Get(key); err != nil {
			return nil, err
		} else if !ok {
			if _, err := m.c.put(d, key, v); err != nil {
				return nil, err
			}
		}
	}
	return d, m.c.Tick()
}

// value merges two values of the same key. The type of w determines how.
func (m *merger) value(v, w any, levels int) (any, error) {
	if err := opaque(v, w); err != nil {
		return nil, err
	}
	mismatch := func() error { return Errorf(TypeError, "cannot merge %s with %s", typeName(v), typeName(w)) }
	if levels != 1 {
		switch w := w.(type) {
		case *Dict:
			d, ok := v.(*Dict)
			if !ok {
				return nil, mismatch()
			}
			if levels != 0 {
				levels--
			}
			return m.merge(d, w, levels)
		case *List:
			l, ok := v.(*List)
			switch {
			case !ok, m.lists == nil && l.mutable != w.mutable:
				return nil, mismatch()
			case m.lists != nil:
				return m.lists.Call(v, w)
			}
			items, err := m.c.Collect(m.c.distinct(Chain(iterateSlice(l.items), iterateSlice(w.items)), nil))
			return NewList(items), err
		}
	}
	if m.items == nil {
		return w, nil
	}
	return m.items.Call(v, w)
}
