package yaql

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// composites maps shorthand directives to their expansions.
var composites = map[byte]string{'c': "%a %b %e %H:%M:%S %Y", 'x': "%m/%d/%y", 'X': "%H:%M:%S", 'D': "%m/%d/%y",
	'F': "%Y-%m-%d", 'T': "%H:%M:%S", 'R': "%H:%M", 'r': "%I:%M:%S %p", 'h': "%b", 'k': "%_H", 'l': "%_I"}

// layouts maps directives to layouts for package time.
var layouts = map[byte]string{'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'p': "PM", 'P': "pm", 'y': "06",
	'm': "01", 'd': "02", 'e': "_2", 'H': "15", 'I': "03", 'M': "04", 'S': "05", 'j': "002"}

// otherDirectives maps the remaining directives to formatting functions.
var otherDirectives = map[byte]func(time.Time) string{
	'%': func(time.Time) string { return "%" },
	'n': func(time.Time) string { return "\n" },
	't': func(time.Time) string { return "\t" },
	'Y': func(t time.Time) string { return strconv.Itoa(t.Year()) },
	'C': func(t time.Time) string { return strconv.Itoa(t.Year() / 100) },
	'G': func(t time.Time) string { year, _ := t.ISOWeek(); return strconv.Itoa(year) },
	'g': func(t time.Time) string { year, _ := t.ISOWeek(); return fmt.Sprintf("%02d", year%100) },
	'V': func(t time.Time) string { _, week := t.ISOWeek(); return fmt.Sprintf("%02d", week) },
	'U': func(t time.Time) string { return fmt.Sprintf("%02d", (t.YearDay()+6-int(t.Weekday()))/7) },
	'W': func(t time.Time) string { return fmt.Sprintf("%02d", (t.YearDay()+6-weekday(t))/7) },
	'u': func(t time.Time) string { return strconv.Itoa(weekday(t) + 1) },
	'w': func(t time.Time) string { return strconv.Itoa(int(t.Weekday())) },
	'f': func(t time.Time) string { return t.Format(".000000")[1:] },
	'z': func(t time.Time) string { return offsetText(t, "") },
	'Z': func(t time.Time) string { return map[bool]string{true: "UTC"}[offsetOf(t) == 0] },
}

// weekday returns the day of the week as a number, starting with 0 for Monday.
func weekday(t time.Time) int { return (int(t.Weekday()) + 6) % 7 }

var directiveText = regexp.MustCompile(`(?s)%([-_0^#]*)(.)`)

// strftime formats t as C's strftime does. Unknown directives are kept.
func (c *Call) strftime(t time.Time, format string) (string, error) {
	var b strings.Builder
	for {
		m := directiveText.FindStringSubmatchIndex(format)
		if m == nil {
			return b.String() + format, nil
		}
		s, err := c.directive(t, format[m[0]:m[1]], format[m[2]:m[3]], format[m[4]])
		b.WriteString(format[:m[0]] + s)
		format = format[m[1]:]
		err = cmp.Or(err, c.Tick(), c.Reserve(int64(b.Len()+len(format))))
		if err != nil {
			return "", err
		}
	}
}

// directive formats t according to a directive. It returns text if the directive is unknown.
func (c *Call) directive(t time.Time, text, flags string, d byte) (s string, err error) {
	if long := composites[d]; long != "" {
		s, err = c.strftime(t, long)
		flags = strings.Trim(flags, "-_0")
	} else if layout := layouts[d]; layout != "" {
		s = t.Format(layout)
	} else if other := otherDirectives[d]; other != nil {
		s = other(t)
	} else {
		return text, nil
	}
	for _, f := range flags {
		last := max(0, len(s)-1)
		digits := strings.TrimLeft(s[:last], "0 ") + s[last:]
		if pad, ok := map[rune]string{'-': "", '_': " ", '0': "0"}[f]; ok {
			s = strings.Repeat(pad, len(s)-len(digits)) + digits
		}
	}
	if strings.Contains(flags, "^") {
		s = strings.ToUpper(s)
	}
	return s, err
}

const (
	monthNames = `january|february|march|april|may|june|july|august|september|october|november|december`
	shortNames = `jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec`
)

// directives maps the directives of strptime to regular expressions.
var directives = map[string]string{
	"a": `mon|tue|wed|thu|fri|sat|sun`, "A": `monday|tuesday|wednesday|thursday|friday|saturday|sunday`,
	"b": shortNames, "B": monthNames, "d": `3[01]|[12][0-9]|0[1-9]|[1-9]| [1-9]`, "f": `[0-9]{1,6}`,
	"H": `2[0-3]|[01][0-9]|[0-9]`, "I": `1[0-2]|0[1-9]|[1-9]`,
	"j": `36[0-6]|3[0-5][0-9]|[12][0-9][0-9]|0[1-9][0-9]|00[1-9]|[1-9][0-9]|0[1-9]|[1-9]`,
	"m": `1[0-2]|0[1-9]|[1-9]`, "M": `[0-5][0-9]|[0-9]`, "p": `am|pm`, "S": `6[01]|[0-5][0-9]|[0-9]`,
	"w": `[0-6]`, "u": `[1-7]`, "y": `[0-9][0-9]`, "Y": `[0-9]{4}`,
	"z": `[+-][0-9]{2}:?[0-5][0-9](?::?[0-5][0-9])?|z`, "Z": `utc|gmt`,
}

var (
	spaces          = regexp.MustCompile(`\s+`)
	directiveMark   = regexp.MustCompile(`(?s)%.?`)
	parseComposites = strings.NewReplacer("%%", "%%", "%c", "%a %b %d %H:%M:%S %Y", "%x", "%m/%d/%y", "%X", "%H:%M:%S")
)

// strptime parses s as Python's strptime does, except that weeks are not supported.
func strptime(s, format string) (any, error) {
	if len(format) > 1000 {
		return nil, Errorf(Value, "format of more than 1000 bytes")
	}
	pattern := spaces.ReplaceAllString(regexp.QuoteMeta(parseComposites.Replace(format)), `\s+`)
	pattern = directiveMark.ReplaceAllStringFunc(pattern, func(d string) string {
		if d == "%%" {
			return "%"
		}
		if directives[d[1:]] == "" {
			return "(" // invalid
		}
		return "(?P<" + d[1:] + ">" + directives[d[1:]] + ")"
	})
	re, err := regexp.Compile("(?i)^(?:" + pattern + ")")
	if err != nil {
		return nil, Errorf(Value, "the format %q has an unknown or repeated directive", shorten(format))
	}
	m := re.FindStringSubmatch(s)
	if len(m) == 0 || len(m[0]) != len(s) {
		return nil, Errorf(Value, "%q does not match the format %q", shorten(s), shorten(format))
	}
	return dateOfMatch(re, m, [7]int{1900, 1, 1})
}

// dateOfMatch returns the date for a match. The groups are named after directives; p contains the defaults. Directive p
// (AM or PM) also affects H.
func dateOfMatch(re *regexp.Regexp, m []string, p [7]int) (_ any, err error) {
	zone, yearDay, half, afternoon := time.UTC, 0, false, false
	for i, name := range re.SubexpNames() {
		text := strings.ToLower(strings.TrimSpace(m[i]))
		if name == "" || text == "" {
			continue
		}
		n, _ := strconv.Atoi(text)
		switch name {
		case "y":
			p[0] = 1969 + (n+31)%100
		case "b", "B":
			p[1] = strings.Index(strings.ReplaceAll(shortNames, "|", ""), text[:3])/3 + 1
		case "j":
			yearDay = n
		case "I":
			p[3], half = n%12, true
		case "p":
			afternoon = text == "pm"
		case "P":
			if half, afternoon = true, text == "pm"; p[3] < 1 || p[3] > 12 {
				return nil, Errorf(Value, "hour %d must be from 1 to 12", p[3])
			}
			p[3] %= 12
		case "f":
			p[6], _ = strconv.Atoi((text + "00000")[:6])
		case "z":
			if zone, err = parseOffset(text); err != nil {
				return nil, err
			}
		default:
			if at := strings.Index("YmdHMS", name); at >= 0 {
				p[at] = n
			}
		}
	}
	if half && afternoon {
		p[3] += 12
	}
	if yearDay > 0 && re.SubexpIndex("m")+re.SubexpIndex("b")+re.SubexpIndex("B")+re.SubexpIndex("d") == -4 {
		date := time.Date(p[0], 1, yearDay, 0, 0, 0, 0, time.UTC)
		p[0], p[1], p[2] = date.Year(), int(date.Month()), date.Day()
	}
	return dateOf(p, zone)
}

// parseOffset returns the time zone for +hh, +hhmm, +hh:mm, +hh:mm:ss, z, utc, or gmt.
func parseOffset(s string) (*time.Location, error) {
	if s[0] != '+' && s[0] != '-' {
		return time.UTC, nil
	}
	digits := strings.ReplaceAll(s, ":", "") + "0000"
	d, _ := time.ParseDuration(digits[:3] + "h" + digits[3:5] + "m" + digits[5:7] + "s") // always valid
	return zoneOf(TimeSpan(d / time.Microsecond))
}

const (
	clockPattern = `(?:(?:[ t]|, )*(?P<H>\d{1,2})(?::?(?P<M>\d{2})(?::?(?P<S>\d{2})(?:[.,](?P<f>\d+))?)?)?` +
		` ?(?P<P>am|pm)?)?(?: ?(?P<z>z|utc|gmt|[+-]\d{2}(?::?\d{2})?))?$`
	dayName   = `^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?`
	monthName = `(?P<B>` + monthNames + `|jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)`
)

// dateFormats lists the date formats accepted by the function datetime.
var dateFormats = []*regexp.Regexp{
	regexp.MustCompile(`^(?P<Y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})` + clockPattern),
	regexp.MustCompile(`^(?P<Y>\d{4})(?P<m>\d{2})(?P<d>\d{2})` + clockPattern),
	regexp.MustCompile(`^(?P<m>0?\d|1[0-2])[-/.](?P<d>\d{1,2})[-/.](?P<Y>\d{4})` + clockPattern),
	regexp.MustCompile(`^(?P<d>\d{2})[-/.](?P<m>\d{1,2})[-/.](?P<Y>\d{4})` + clockPattern),
	regexp.MustCompile(dayName + `(?P<d>\d{1,2})[ -]` + monthName + `\.?,?[ -](?P<Y>\d{4})` + clockPattern),
	regexp.MustCompile(dayName + monthName + `\.? (?P<d>\d{1,2}),? (?P<Y>\d{4})` + clockPattern),
	regexp.MustCompile(`^` + clockPattern),
}

// parseTime parses a date, a time, or both, in common notations. The date defaults to the date of now.
func parseTime(s string, now time.Time) (any, error) {
	text := strings.ToLower(strings.TrimSpace(s))
	for i, re := range dateFormats {
		if m := re.FindStringSubmatch(text); m != nil && (i < len(dateFormats)-1 || strings.Contains(text, ":")) {
			return dateOfMatch(re, m, [7]int{now.Year(), int(now.Month()), now.Day()})
		}
	}
	return nil, Errorf(Value, "%q is not a date that can be parsed without a format", shorten(s))
}

func dateOf(p [7]int, zone *time.Location) (any, error) {
	t := time.Date(p[0], time.Month(p[1]), p[2], p[3], p[4], p[5], p[6]*1000, zone)
	if partsOf(t) != p {
		return nil, Errorf(Value, "%d-%02d-%02d %02d:%02d:%02d.%06d is not a date", p[0], p[1], p[2], p[3], p[4], p[5], p[6])
	}
	return checkedTime(t)
}

func offsetOf(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

func offsetText(t time.Time, colon string) string {
	sign, offset := "+", offsetOf(t)
	if offset < 0 {
		sign = "-"
	}
	s := time.Unix(0, 0).UTC().Add(offset.Abs()).Format("15" + colon + "04" + colon + "05")
	return sign + strings.TrimSuffix(s, colon+"00")
}

// zoneOf returns the time zone with the given offset, truncated to seconds.
func zoneOf(v any) (*time.Location, error) {
	offset, _ := v.(TimeSpan)
	seconds := int(offset / 1e6)
	if seconds <= -86400 || seconds >= 86400 {
		return nil, Errorf(Value, "the offset of a date must be less than a day")
	}
	return time.FixedZone("", seconds), nil
}

// checkedTime returns v, or an error if it is a date outside the years 1 to 9999.
func checkedTime(v any) (any, error) {
	if t, ok := v.(time.Time); ok && (t.Year() < 1 || t.Year() > 9999) {
		return nil, Errorf(Value, "the year must be from 1 to 9999")
	}
	return v, nil
}

func partsOf(t time.Time) [7]int {
	return [7]int{t.Year(), int(t.Month()), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond() / 1000}
}
