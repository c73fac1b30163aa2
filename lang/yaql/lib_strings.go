package yaql

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

var stringFunctions = []*Function{
	Func("concat", "*args text", func(c *Call) (any, error) { return c.join(iterateSlice(c.Rest()), "", true) }).
		Document("Joins strings.", `concat(ab, c)`, `"abc"`),
	Method("toUpper", "string string", value(func(c *Call) any { return cases.Upper(language.Und).String(c.String(0)) })).
		Document("Returns the string in upper case.", `'aß1'.toUpper()`, `"ASS1"`),
	Method("toLower", "string string", value(func(c *Call) any { return cases.Lower(language.Und).String(c.String(0)) })).
		Document("Returns the string in lower case.", `'ÄB1'.toLower()`, `"äb1"`),
	Method("split", "string string, separator string=null, maxSplits int=-1", func(c *Call) (any, error) { return splitString(c, false) }).
		Document("Returns the parts between separators or, without one, between runs of white space. A negative maxSplits means no limit.",
			`'a,b,,c'.split(',')`, `["a", "b", "", "c"]`, `' a b  c '.split()`, `["a", "b", "c"]`, `'a b c'.split(maxSplits => 1)`, `["a", "b c"]`),
	Method("rightSplit", "string string, separator string=null, maxSplits int=-1", func(c *Call) (any, error) { return splitString(c, true) }).
		Document("Like split, but splits from the end of the string.",
			`'a b c'.rightSplit(maxSplits => 1)`, `["a b", "c"]`),
	Method("join", "sequence iterable, separator string", func(c *Call) (any, error) {
		return c.join(c.Iter(0), c.String(1), c.outer.scope.lookup("str").standard)
	}).eitherWay().Document("Converts the items with str, and joins them with the separator.",
		`[a, 1, null].join('-')`, `"a-1-null"`, `','.join([1, 2])`, `"1,2"`),
	Func("str", "value any", str).
		Document("Returns the value as text.", `str(1.0)`, `"1.0"`, `str(null)`, `"null"`, `str([a, true])`, `"('a', True)"`),
	Method("trim", "string string, chars string=null", trimmed(strings.TrimFunc)).
		Document("Removes white space, or the given characters, from both ends.",
			`' a '.trim()`, `"a"`, `'xyaxy'.trim(xy)`, `"a"`),
	Method("trimLeft", "string string, chars string=null", trimmed(strings.TrimLeftFunc)).
		Document("Removes white space, or the given characters, from the start.", `' a '.trimLeft()`, `"a "`),
	Method("trimRight", "string string, chars string=null", trimmed(strings.TrimRightFunc)).
		Document("Removes white space, or the given characters, from the end.", `' a '.trimRight()`, `" a"`),
	Extension("norm", "string string?, chars string=null", value(func(c *Call) any {
		if s := trim(c, 1, strings.TrimFunc); s != "" {
			return s
		}
		return nil
	})).Document("Like trim, but returns null if nothing is left.", `' a '.norm()`, `"a"`, `' '.norm()`, `null`),
	Extension("isEmpty", "string string?, trim bool=true, chars string=null", value(func(c *Call) any {
		return c.String(0) == "" || c.Bool(1) && trim(c, 2, strings.TrimFunc) == ""
	})).Document("Returns whether the string is null, or empty after trimming white space or the given characters.",
		`' '.isEmpty()`, `true`, `' '.isEmpty(trim => false)`, `false`, `isEmpty(null)`, `true`, `aba.isEmpty(chars => ab)`, `true`),
	Method("replace", "string string, old string, new string, count int=-1", func(c *Call) (any, error) {
		return c.replaceAll(c.String(0), c.String(1), c.String(2), 3)
	}).Document("Replaces the first count occurrences of a string; by default, all.",
		`banana.replace(an, x)`, `"bxxa"`, `banana.replace(a, o, 2)`, `"bonona"`),
	Method("replace", "string string, replacements dict, count int=-1", replaceByDict).
		Document("Replaces each key of the dictionary with its value, in order, at most count times per key.",
			`'a-b'.replace({a => b, b => c})`, `"c-c"`),
	Extension("format", "_FormatString string, *args stored, **kwargs stored", formatString).
		Document("Replaces fields in braces with arguments, as in Python: {}, {0}, {name}, {0[key]}, {0:>8.2f}. Attributes "+
			"are not accessible.",
			`'{0}, {x:>4}'.format(a, x => 1)`, `"a,    1"`, `'{:.2f}'.format(2.5)`, `"2.50"`, `'{0.__class__}'.format(1)`, `error: type`),
	Method("substring", "string string, start int, length int=-1", value(func(c *Call) any {
		n := utf8.RuneCountInString(c.String(0))
		start, length := c.clamped(1), c.clamped(2)
		if length < 0 {
			length = n
		}
		if start < 0 {
			start += n
		}
		lo, hi := sliceBounds(n, start, start+length)
		return runeSlice(c.String(0), lo, hi)
	})).Document("Returns length characters from start; by default, the rest of the string. A negative start counts from the end.",
		`abcde.substring(1, 2)`, `"bc"`, `abcde.substring(-2)`, `"de"`),
	Method("indexOf", "string string, sub string, start int=0", find(strings.Index)).
		Document("Returns the index of the first occurrence of sub at or after start, or -1.",
			`banana.indexOf(an)`, `1`, `banana.indexOf(an, 2)`, `3`),
	Method("indexOf", "string string, sub string, start int, length int", find(strings.Index)).
		Document("Returns the index of the first occurrence of sub within length characters from start, or -1.",
			`banana.indexOf(n, 3, 1)`, `-1`),
	Method("lastIndexOf", "string string, sub string, start int=0", find(strings.LastIndex)).
		Document("Returns the index of the last occurrence of sub at or after start, or -1.", `banana.lastIndexOf(an)`, `3`),
	Method("lastIndexOf", "string string, sub string, start int, length int", find(strings.LastIndex)).
		Document("Returns the index of the last occurrence of sub within length characters from start, or -1.",
			`banana.lastIndexOf(a, 0, 4)`, `3`),
	Method("toCharArray", "string string", func(c *Call) (any, error) { return c.characters(c.String(0)) }).
		Document("Returns the characters.", `'aß'.toCharArray()`, `["a", "ß"]`),
	Func("characters", "digits bool?=false, hexdigits bool?=false, asciiLowercase bool?=false, asciiUppercase bool?=false, "+
		"asciiLetters bool?=false, letters bool?=false, octdigits bool?=false, punctuation bool?=false, printable bool?=false, "+
		"lowercase bool?=false, uppercase bool?=false, whitespace bool?=false", characterClasses).
		Document("Returns the ASCII characters of the selected classes, without duplicates, in code order.",
			`characters(octdigits => true)`, `["0", "1", "2", "3", "4", "5", "6", "7"]`),
	Func("isString", "arg any", value(func(c *Call) any { _, ok := c.Arg(0).(string); return ok })).
		Document("Returns whether the value is a string.", `isString(a)`, `true`, `isString(1)`, `false`),
	Method("startsWith", "string string, *prefixes string", affix(strings.HasPrefix)).
		Document("Returns whether the string starts with any of the prefixes.",
			`abc.startsWith(b, ab)`, `true`, `abc.startsWith()`, `false`),
	Method("endsWith", "string string, *suffixes string", affix(strings.HasSuffix)).
		Document("Returns whether the string ends with any of the suffixes.", `abc.endsWith(bc)`, `true`),
	Func("hex", "num number?", func(c *Call) (any, error) {
		if !isInt(c.Arg(0)) {
			return nil, Errorf(TypeError, "%s has no hexadecimal form", typeName(c.Arg(0)))
		}
		return fmt.Sprintf("%#x", bigOf(c.Arg(0))), nil
	}).Document("Returns an integer in hexadecimal.", `hex(-255)`, `"-0xff"`, `hex(1.5)`, `error: type`),
}

// clamped returns an integer argument clamped to a range that exceeds any length but in which sums cannot overflow.
func (c *Call) clamped(i int) int {
	const far = 1 << 48
	n, err := c.Int(i)
	if err != nil {
		return far * bigOf(c.Arg(i)).Sign()
	}
	return max(-far, min(n, far))
}

// sliceBounds returns the bounds of the slice [lo:hi] of n items. Negative bounds count from the end.
func sliceBounds(n, lo, hi int) (int, int) {
	fromEnd := func(i int) int {
		if i < 0 {
			i = max(i+n, 0)
		}
		return i
	}
	return fromEnd(lo), min(fromEnd(hi), n)
}

func splitString(c *Call, fromRight bool) (any, error) {
	s, sep := c.String(0), c.String(1)
	limit, err := c.Int(2)
	if err == nil && c.Arg(1) != nil && sep == "" {
		err = Errorf(Value, "empty separator")
	}
	if err != nil {
		return nil, err
	}
	index, indexFunc, trimFunc := strings.Index, strings.IndexFunc, strings.TrimLeftFunc
	if fromRight {
		index, indexFunc, trimFunc = strings.LastIndex, strings.LastIndexFunc, strings.TrimRightFunc
	}
	var parts []any
	for last := false; !last; limit-- {
		var at int
		width := len(sep)
		if c.Arg(1) != nil {
			at = index(s, sep)
		} else if s = trimFunc(s, isSpace); s == "" {
			break
		} else if at = indexFunc(s, isSpace); at >= 0 {
			_, width = utf8.DecodeRuneInString(s[at:])
		}
		part := s
		if last = at < 0 || limit == 0; !last {
			part, s = s[:at], s[at+width:]
			if fromRight {
				part, s = s, part
			}
		}
		parts = append(parts, part)
		if err := cmp.Or(c.Reserve(int64(len(parts))*32), c.Tick()); err != nil {
			return nil, err
		}
	}
	if fromRight {
		slices.Reverse(parts)
	}
	return NewPlainList(parts), nil
}

// join concatenates the items with sep between them. It converts items with str, except for opaque items and, if direct
// is set, strings.
func (c *Call) join(it *Iterator, sep string, direct bool) (any, error) {
	var b strings.Builder
	var parts []any // before the contents of b
	var text Text   // first opaque item
	size := 0
	for first := true; ; first = false {
		v, ok, err := it.Next()
		switch {
		case err != nil || !ok && text == nil:
			return b.String(), err
		case !ok:
			return text.YAQLText(append(parts, b.String()))
		case !first:
			b.WriteString(sep)
		}
		s, isString := v.(string)
		if t, isText := v.(Text); isText {
			if parts = append(parts, b.String(), v); text == nil {
				text = t
			}
			b.Reset()
		} else if !direct || !isString {
			if s, err = c.str(v); err != nil {
				return nil, err
			}
		}
		if size += len(sep) + len(s); c.Reserve(int64(size+32*len(parts))) != nil {
			return nil, c.ev.overQuota()
		}
		b.WriteString(s)
	}
}

// str converts v by calling the function str, which the host may override.
func (c *Call) str(v any) (string, error) {
	text, err := c.Invoke("str", v)
	s, ok := text.(string)
	if err == nil && !ok {
		err = Errorf(TypeError, "str must return a string, got %s", typeName(text))
	}
	return s, err
}

func str(c *Call) (any, error) {
	switch v := c.Arg(0).(type) {
	case nil:
		return "null", nil
	case bool:
		return strconv.FormatBool(v), nil
	}
	return c.text(c.Arg(0))
}

type trimmer = func(s string, cut func(rune) bool) string

func trimmed(from trimmer) func(*Call) (any, error) {
	return value(func(c *Call) any { return trim(c, 1, from) })
}

// trim returns the first argument without surrounding white space, or without the characters in the argument with index
// chars. from selects the sides to trim.
func trim(c *Call, chars int, from trimmer) string {
	if c.Arg(chars) == nil {
		return from(c.String(0), isSpace)
	}
	set := map[rune]bool{}
	for _, r := range c.String(chars) {
		set[r] = true
	}
	return from(c.String(0), func(r rune) bool { return set[r] })
}

// replaceAll returns s with occurrences of old replaced. The argument with index count is the maximum number of
// replacements; a negative number means no maximum.
func (c *Call) replaceAll(s, old, replacement string, count int) (string, error) {
	limit, err := c.Int(count)
	if err != nil {
		return "", err
	}
	n := int64(strings.Count(s, old))
	if limit >= 0 {
		n = min(n, int64(limit))
	}
	if grown := int64(len(replacement) - len(old)); grown > 0 && n > 0 {
		if grown > (1<<62)/n || c.Reserve(int64(len(s))+n*grown) != nil {
			return "", c.ev.overQuota()
		}
	}
	return strings.Replace(s, old, replacement, int(n)), c.Tick()
}

func replaceByDict(c *Call) (any, error) {
	s := c.String(0)
	for k, v := range c.Dict(1).All() {
		old, err := c.str(k)
		if err != nil {
			return nil, err
		}
		replacement, err := c.str(v)
		if err == nil {
			s, err = c.replaceAll(s, old, replacement, 2)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// find returns a function that returns the character index of a substring. The search begins at a start index and is
// optionally limited to a length.
func find(search func(s, sub string) int) func(*Call) (any, error) {
	return value(func(c *Call) any {
		n := utf8.RuneCountInString(c.String(0))
		start, end := c.clamped(2), n
		if len(c.args) > 3 {
			if start < 0 {
				start += n
			}
			if length := c.clamped(3); length >= 0 {
				end = start + length
			}
		}
		lo, hi := sliceBounds(n, start, end)
		s := runeSlice(c.String(0), lo, hi)
		i := search(s, c.String(1))
		if lo > hi || i < 0 {
			return int64(-1)
		}
		return int64(lo + utf8.RuneCountInString(s[:i]))
	})
}

// characters returns a list of the characters in s.
func (c *Call) characters(s string) (*List, error) {
	if err := c.Reserve(32 * int64(len(s))); err != nil {
		return nil, err
	}
	items := make([]any, 0, len(s))
	for _, r := range s {
		items = append(items, string(r))
	}
	return NewList(items), nil
}

func characterClasses(c *Call) (any, error) {
	const (
		digits, lower, upper = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		punctuation, space   = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", " \t\n\r\v\f"
	)
	var all []byte
	for i, class := range []string{
		digits, digits + "abcdefABCDEF", lower, upper, lower + upper, "", "01234567", punctuation,
		digits + lower + upper + punctuation + space, "", "", space,
	} {
		switch chosen := c.Bool(i); {
		case chosen && class == "":
			return nil, Errorf(TypeError, "the class %s depends on a locale", c.fn.param(i).Name)
		case chosen:
			all = append(all, class...)
		}
	}
	slices.Sort(all)
	return c.characters(string(slices.Compact(all)))
}

func affix(has func(s, affix string) bool) func(*Call) (any, error) {
	return value(func(c *Call) any {
		return slices.ContainsFunc(c.Rest(), func(a any) bool { return has(c.String(0), a.(string)) })
	})
}
