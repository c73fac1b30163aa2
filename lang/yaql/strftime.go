package yaql

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// composites are the directives that stand for several.
var composites = map[byte]string{'c': "%a %b %e %H:%M:%S %Y", 'x': "%m/%d/%y", 'X': "%H:%M:%S", 'D': "%m/%d/%y",
	'F': "%Y-%m-%d", 'T': "%H:%M:%S", 'R': "%H:%M", 'r': "%I:%M:%S %p"}

// strftime formats as C's function of this name. Unknown directives are text.
func (c *Call) strftime(t time.Time, format string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if err := c.Reserve(int64(b.Len())); err != nil {
			return "", err
		}
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		start := i
		for i++; i < len(format) && strings.IndexByte("-_0^#", format[i]) >= 0; i++ {
		}
		flags := format[start+1 : i]
		if i == len(format) {
			b.WriteString(format[start:])
			break
		}
		var s string
		known := true
		if long, ok := composites[format[i]]; ok {
			s, _ = c.strftime(t, long)
		} else {
			s, known = directive(t, format[i], flags)
		}
		if !known {
			s = format[start : i+1]
		} else if strings.Contains(flags, "^") {
			s = strings.ToUpper(s)
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

func directive(t time.Time, d byte, flags string) (string, bool) {
	number := func(n, width int, pad byte) (string, bool) {
		for _, f := range []byte(flags) {
			switch f {
			case '-':
				width = 0
			case '_':
				pad = ' '
			case '0':
				pad = '0'
			}
		}
		s := strconv.Itoa(n)
		return strings.Repeat(string(pad), max(0, width-len(s))) + s, true
	}
	year, week := t.ISOWeek()
	weekday := int(t.Weekday())
	hour := (t.Hour()+11)%12 + 1
	switch d {
	case '%', 'n', 't':
		return map[byte]string{'%': "%", 'n': "\n", 't': "\t"}[d], true
	case 'a', 'A', 'b', 'h', 'B':
		return t.Format(map[byte]string{'a': "Mon", 'A': "Monday", 'b': "Jan", 'h': "Jan", 'B': "January"}[d]), true
	case 'p':
		return t.Format("PM"), true
	case 'P':
		return t.Format("pm"), true
	case 'z':
		_, offset := t.Zone()
		return offsetText(offset, ""), true
	case 'Z':
		if _, offset := t.Zone(); offset != 0 {
			return "", true
		}
		return "UTC", true
	case 'f':
		return fmt.Sprintf("%06d", t.Nanosecond()/1000), true
	case 'Y':
		return number(t.Year(), 0, '0')
	case 'G':
		return number(year, 0, '0')
	case 'C':
		return number(t.Year()/100, 0, '0')
	case 'y':
		return number(t.Year()%100, 2, '0')
	case 'g':
		return number(year%100, 2, '0')
	case 'm':
		return number(int(t.Month()), 2, '0')
	case 'd':
		return number(t.Day(), 2, '0')
	case 'e':
		return number(t.Day(), 2, ' ')
	case 'H':
		return number(t.Hour(), 2, '0')
	case 'I':
		return number(hour, 2, '0')
	case 'k':
		return number(t.Hour(), 2, ' ')
	case 'l':
		return number(hour, 2, ' ')
	case 'M':
		return number(t.Minute(), 2, '0')
	case 'S':
		return number(t.Second(), 2, '0')
	case 'j':
		return number(t.YearDay(), 3, '0')
	case 'U':
		return number((t.YearDay()+6-weekday)/7, 2, '0')
	case 'W':
		return number((t.YearDay()+6-(weekday+6)%7)/7, 2, '0')
	case 'V':
		return number(week, 2, '0')
	case 'u':
		return number((weekday+6)%7+1, 0, '0')
	case 'w':
		return number(weekday, 0, '0')
	}
	return "", false
}

var (
	days   = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
	months = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}
)

func short(names []string) []string {
	s := make([]string, len(names))
	for i, n := range names {
		s[i] = n[:3]
	}
	return s
}

// directives are the patterns that strptime reads.
var directives = map[byte]string{
	'a': strings.Join(short(days), "|"), 'A': strings.Join(days, "|"), 'b': strings.Join(short(months), "|"), 'B': strings.Join(months, "|"),
	'd': `3[01]|[12][0-9]|0[1-9]|[1-9]| [1-9]`, 'f': `[0-9]{1,6}`, 'H': `2[0-3]|[01][0-9]|[0-9]`, 'I': `1[0-2]|0[1-9]|[1-9]`,
	'j': `36[0-6]|3[0-5][0-9]|[12][0-9][0-9]|0[1-9][0-9]|00[1-9]|[1-9][0-9]|0[1-9]|[1-9]`, 'm': `1[0-2]|0[1-9]|[1-9]`, 'M': `[0-5][0-9]|[0-9]`,
	'p': `am|pm`, 'S': `6[01]|[0-5][0-9]|[0-9]`, 'w': `[0-6]`, 'u': `[1-7]`, 'y': `[0-9][0-9]`, 'Y': `[0-9]{4}`,
	'z': `[+-][0-9]{2}:?[0-5][0-9](?::?[0-5][0-9])?|z`, 'Z': `utc|gmt`,
}

var spaces = regexp.MustCompile(`\s+`)

// strptime parses s by a format of Python's function of this name, but for weeks.
func strptime(s, format string) (any, error) {
	if len(format) > 1000 {
		return nil, Errorf(Value, "format of more than 1000 bytes")
	}
	for _, d := range "cxX" {
		format = strings.ReplaceAll(format, "%"+string(d), map[rune]string{'c': "%a %b %d %H:%M:%S %Y", 'x': "%m/%d/%y", 'X': "%H:%M:%S"}[d])
	}
	pattern := "(?i)^"
	var order []byte
	for rest := format; rest != ""; {
		if rest[0] != '%' {
			end := strings.IndexByte(rest+"%", '%')
			pattern += spaces.ReplaceAllString(regexp.QuoteMeta(rest[:end]), `\s+`)
			rest = rest[end:]
			continue
		}
		if len(rest) > 1 && rest[1] == '%' {
			pattern, rest = pattern+"%", rest[2:]
			continue
		}
		if len(rest) == 1 || directives[rest[1]] == "" || strings.IndexByte(string(order), rest[1]) >= 0 {
			return nil, Errorf(Value, "the format %q has an unknown or repeated directive", shorten(format))
		}
		pattern += "(" + directives[rest[1]] + ")"
		order = append(order, rest[1])
		rest = rest[2:]
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, Errorf(Value, "invalid format %q", shorten(format))
	}
	m := re.FindStringSubmatch(s)
	if len(m) == 0 || len(m[0]) != len(s) {
		return nil, Errorf(Value, "%q does not match the format %q", shorten(s), shorten(format))
	}
	p, zone := [7]int{1900, 1, 1}, time.UTC
	day, pm, half := 0, false, false
	for i, d := range order {
		text := strings.ToLower(strings.TrimSpace(m[i+1]))
		n, _ := strconv.Atoi(text)
		switch d {
		case 'Y':
			p[0] = n
		case 'y':
			if p[0] = 1900 + n; n < 69 {
				p[0] += 100
			}
		case 'm':
			p[1] = n
		case 'b', 'B':
			p[1] = named12(text)
		case 'd':
			p[2] = n
		case 'j':
			day = n
		case 'H', 'I':
			p[3], half = n, d == 'I'
		case 'p':
			pm = text == "pm"
		case 'M':
			p[4] = n
		case 'S':
			p[5] = n
		case 'f':
			p[6], _ = strconv.Atoi((text + "00000")[:6])
		case 'z':
			if zone, err = parseOffset(text); err != nil {
				return nil, err
			}
		}
	}
	if half {
		if p[3] %= 12; pm {
			p[3] += 12
		}
	}
	if day > 0 && !strings.ContainsAny(string(order), "mbBd") {
		date := time.Date(p[0], 1, day, 0, 0, 0, 0, time.UTC)
		p[0], p[1], p[2] = date.Year(), int(date.Month()), date.Day()
	}
	return dateOf(p, zone)
}

// named12 returns the number of a month, or 0.
func named12(name string) int {
	for i, m := range months {
		if len(name) >= 3 && (name == m || name == m[:3]) {
			return i + 1
		}
	}
	return 0
}

// parseOffset reads +hh, +hhmm, +hh:mm, +hh:mm:ss or z.
func parseOffset(s string) (*time.Location, error) {
	if strings.EqualFold(s, "z") {
		return time.UTC, nil
	}
	digits := strings.ReplaceAll(s[1:], ":", "") + "000000"
	seconds := 0
	for i, unit := range []int{3600, 60, 1} {
		n, _ := strconv.Atoi(digits[2*i : 2*i+2])
		seconds += n * unit
	}
	if s[0] == '-' {
		seconds = -seconds
	}
	return zoneOf(TimeSpan(seconds) * 1e6)
}

const (
	clockPattern = `(?:(?:[ t]|, )*(\d{1,2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d+))?)?)? ?(am|pm)?)?(?: ?(z|utc|gmt|[+-]\d{2}(?::?\d{2})?))?$`
	dayName      = `^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?`
)

// dateFormats are what datetime parses: their groups are parts of the date in the given order.
var dateFormats = []struct {
	re    *regexp.Regexp
	order string
}{
	{regexp.MustCompile(`^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})` + clockPattern), "Ymd"},
	{regexp.MustCompile(`^(\d{4})(\d{2})(\d{2})` + clockPattern), "Ymd"},
	{regexp.MustCompile(`^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})` + clockPattern), "mdY"},
	{regexp.MustCompile(dayName + `(\d{1,2})[ -]([a-z]{3,})\.?,?[ -](\d{4})` + clockPattern), "dmY"},
	{regexp.MustCompile(dayName + `([a-z]{3,})\.? (\d{1,2}),? (\d{4})` + clockPattern), "mdY"},
	{regexp.MustCompile(`^` + clockPattern), ""},
}

// parseTime parses the usual notations of a date, a time of today, or both.
func parseTime(s string, now time.Time) (any, error) {
	text := strings.ToLower(strings.TrimSpace(s))
	for _, f := range dateFormats {
		m := f.re.FindStringSubmatch(text)
		if m == nil || text == "" || f.order == "" && !strings.Contains(text, ":") {
			continue
		}
		p := [7]int{now.Year(), int(now.Month()), now.Day()}
		for i, part := range []byte(f.order) {
			n, err := strconv.Atoi(m[i+1])
			if err != nil {
				n = named12(m[i+1])
			}
			p[strings.IndexByte("Ymd", part)] = n
		}
		if f.order == "mdY" && p[1] > 12 {
			p[1], p[2] = p[2], p[1]
		}
		clock := m[len(f.order)+1:]
		for i := range 3 {
			p[3+i], _ = strconv.Atoi(clock[i])
		}
		p[6], _ = strconv.Atoi((clock[3] + "000000")[:6])
		if clock[4] != "" {
			if p[3] < 1 || p[3] > 12 {
				break
			}
			if p[3] %= 12; clock[4] == "pm" {
				p[3] += 12
			}
		}
		zone := time.UTC
		if z := clock[5]; z != "" && z != "utc" && z != "gmt" {
			var err error
			if zone, err = parseOffset(z); err != nil {
				return nil, err
			}
		}
		return dateOf(p, zone)
	}
	return nil, Errorf(Value, "%q is not a date that can be parsed without a format", shorten(s))
}
