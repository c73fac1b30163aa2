package yaql

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"
)

var timeFunctions = append([]*Function{
	Func("datetime", "year int, month int, day int, hour int=0, minute int=0, second int=0, microsecond int=0, offset timespan=unset", func(c *Call) (any, error) {
		return c.makeTime([7]int{}, time.UTC, 0)
	}).Document("Returns a date and time. Its offset from UTC is a time span.", `datetime(2020, 2, 29, 12).hour`, `12`, `datetime(2021, 2, 29)`, `error: value`),
	Func("datetime", "timestamp number, offset timespan=unset", timeOfStamp).
		Document("Returns the date and time of a number of seconds since the start of 1970.", `datetime(86400).day`, `2`),
	Func("datetime", "string string, format string=null", func(c *Call) (any, error) {
		if f := c.String(1); f != "" {
			return strptime(c.String(0), f)
		}
		return parseTime(c.String(0), time.Now())
	}).Document("Parses a date and time, by a format as of Python's strptime if it is given. Without an offset in the string, it is in UTC.",
		`str(datetime('2020-02-29T12:30:00+02:00'))`, `"2020-02-29 12:30:00+02:00"`, `datetime('29.02.2020', '%d.%m.%Y').month`, `2`, `datetime(x)`, `error: value`),
	Func("timespan", "days int=0, hours int=0, minutes int=0, seconds integer=0, milliseconds integer=0, microseconds integer=0", func(c *Call) (any, error) {
		sum := new(big.Int)
		for i, unit := range []int64{86400e6, 3600e6, 60e6, 1e6, 1e3, 1} {
			sum.Add(sum, new(big.Int).Mul(bigOf(c.Arg(i)), big.NewInt(unit)))
		}
		return spanOf(sum)
	}).Document("Returns the sum of its arguments as a time span.", `timespan(hours => 36).days`, `1.5`),
	Func("now", "offset timespan?=null", func(c *Call) (any, error) {
		zone, err := zoneOf(c.Arg(0))
		return time.Now().Truncate(time.Microsecond).In(zone), err
	}).Document("Returns the current date and time with an offset.", `now() > datetime(2020, 1, 1)`, `true`),
	Func("localtz", "", value(func(*Call) any {
		_, offset := time.Now().Zone()
		return TimeSpan(offset) * 1e6
	})).Document("Returns the offset of the local time zone from UTC.", `isTimespan(localtz())`, `true`),
	Func("utctz", "", value(func(*Call) any { return TimeSpan(0) })).
		Document("Returns the offset of UTC, which is zero.", `utctz().seconds`, `0.0`),
	Method("replace", "dt datetime, year int=null, month int=null, day int=null, hour int=null, minute int=null, second int=null, microsecond int=null, offset timespan=null", func(c *Call) (any, error) {
		t := c.Arg(0).(time.Time)
		return c.makeTime([7]int{t.Year(), int(t.Month()), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond() / 1000}, t.Location(), 1)
	}).Document("Returns the date and time with some parts replaced.", `datetime(2020, 1, 2).replace(day => 5).day`, `5`),
	Method("format", "dt datetime, format string", func(c *Call) (any, error) { return c.strftime(c.Arg(0).(time.Time), c.String(1)) }).
		Document("Formats a date and time as C's strftime does.", `datetime(2020, 2, 29).format('%d.%m.%y %A')`, `"29.02.20 Saturday"`),
	Func("isDatetime", "value any", value(func(c *Call) any { return classOf(c.Arg(0)) == clTime })).
		Document("Returns whether the value is a date and time.", `isDatetime(now())`, `true`, `isDatetime(1)`, `false`),
	Func("isTimespan", "value any", value(func(c *Call) any { return classOf(c.Arg(0)) == clSpan })).
		Document("Returns whether the value is a time span.", `isTimespan(timespan())`, `true`, `isTimespan(1)`, `false`),

	Func("#operator_+", "dt datetime, ts timespan", func(c *Call) (any, error) { return addSpan(c, 1) }).eitherWay().
		Document("Adds a time span to a date and time.", `(datetime(2020, 2, 28) + timespan(days => 2)).month`, `3`,
			`(timespan(days => 2) + datetime(2020, 2, 28)).day`, `1`),
	Func("#operator_-", "dt datetime, ts timespan", func(c *Call) (any, error) { return addSpan(c, -1) }).
		Document("Subtracts a time span from a date and time.", `(datetime(2020, 3, 1) - timespan(days => 1)).day`, `29`),
	Func("#operator_-", "dt1 datetime, dt2 datetime", value(func(c *Call) any {
		return TimeSpan(c.Arg(0).(time.Time).UnixMicro() - c.Arg(1).(time.Time).UnixMicro())
	})).
		Document("Returns the time from one date and time to another.", `(datetime(2020, 3, 1) - datetime(2020, 2, 1)).days`, `29.0`),
	Func("#operator_+", "ts1 timespan, ts2 timespan", spanSum((*big.Int).Add)).
		Document("Adds time spans.", `(timespan(1) + timespan(2)).days`, `3.0`),
	Func("#operator_-", "ts1 timespan, ts2 timespan", spanSum((*big.Int).Sub)).
		Document("Subtracts time spans.", `(timespan(1) - timespan(2)).days`, `-1.0`),
	Func("#operator_*", "ts timespan, n number", func(c *Call) (any, error) {
		return scaleSpan('*', c.span(0), c.Arg(1))
	}).eitherWay().Document("Multiplies a time span.", `(timespan(1) * 1.5).hours`, `36.0`, `(2 * timespan(1)).days`, `2.0`),
	Func("#operator_/", "ts1 timespan, ts2 timespan", func(c *Call) (any, error) {
		return arithmetic('/', float64(c.span(0)), c.span(1))
	}).Document("Returns the ratio of time spans.", `timespan(1) / timespan(hours => 10)`, `2.4`),
	Func("#operator_/", "ts timespan, n number", func(c *Call) (any, error) {
		by, err := floatOf(c.Arg(1))
		if err != nil {
			return nil, err
		}
		return scaleSpan('/', float64(c.span(0)), by)
	}).Document("Divides a time span, to the nearest microsecond.", `(timespan(1) / 5).hours`, `4.8`),
	Func("#unary_operator_-", "ts timespan", func(c *Call) (any, error) {
		return spanOf(new(big.Int).Neg(bigOf(c.span(0))))
	}).Document("Negates a time span.", `(-timespan(1)).days`, `-1.0`),
	Func("#unary_operator_+", "ts timespan", value(func(c *Call) any { return c.Arg(0) })).
		Document("Returns the operand.", `(+timespan(1)).days`, `1.0`),
}, timeProperties()...)

// timeProperties returns what #property#name gives for $.name.
func timeProperties() []*Function {
	var all []*Function
	add := func(typ, name, doc, example, result string, f func(t time.Time, ts TimeSpan) any) {
		all = append(all, Func("#property#"+name, "value "+typ, func(c *Call) (any, error) {
			t, _ := c.Arg(0).(time.Time)
			ts, _ := c.Arg(0).(TimeSpan)
			return checkedTime(f(t, ts))
		}).Document(doc, example, result))
	}
	for _, unit := range []struct {
		name   string
		micros float64
	}{{"milliseconds", 1e3}, {"seconds", 1e6}, {"minutes", 60e6}, {"hours", 3600e6}, {"days", 86400e6}} {
		add("timespan", unit.name, "Returns a time span in "+unit.name+".", "timespan(seconds => 45)."+unit.name, floatNotation(45e6/unit.micros, -1, 16),
			func(_ time.Time, ts TimeSpan) any { return float64(ts) / unit.micros })
	}
	add("timespan", "microseconds", "Returns a time span in microseconds.", "timespan(1).microseconds", "86400000000",
		func(_ time.Time, ts TimeSpan) any { return int64(ts) })
	const sample = "datetime(2020, 2, 29, 13, 14, 15, 16)."
	for _, part := range []struct {
		name, result string
		of           func(time.Time) int
	}{
		{"year", "2020", time.Time.Year}, {"month", "2", func(t time.Time) int { return int(t.Month()) }}, {"day", "29", time.Time.Day},
		{"hour", "13", time.Time.Hour}, {"minute", "14", time.Time.Minute}, {"second", "15", time.Time.Second},
		{"microsecond", "16", func(t time.Time) int { return t.Nanosecond() / 1000 }},
		{"weekday", "5", weekday},
	} {
		add("datetime", part.name, "Returns the "+part.name+" of a date and time. Mondays are weekday 0.", sample+part.name, part.result,
			func(t time.Time, _ TimeSpan) any { return int64(part.of(t)) })
	}
	offset := func(t time.Time) time.Duration { _, s := t.Zone(); return time.Duration(s) * time.Second }
	midnight := func(t time.Time) time.Time {
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
	}
	add("datetime", "date", "Returns the start of the day.", sample+"date.hour", "0", func(t time.Time, _ TimeSpan) any { return midnight(t) })
	add("datetime", "time", "Returns the time since the start of the day.", sample+"time.seconds", "47655.000016",
		func(t time.Time, _ TimeSpan) any { return TimeSpan(t.Sub(midnight(t)) / time.Microsecond) })
	add("datetime", "utc", "Subtracts the offset from the time of day. As in the reference, the result keeps the offset.", sample+"utc.hour", "13",
		func(t time.Time, _ TimeSpan) any { return t.Add(-offset(t)) })
	add("datetime", "offset", "Returns the offset from UTC.", sample+"offset.hours", "0.0",
		func(t time.Time, _ TimeSpan) any { return TimeSpan(offset(t) / time.Microsecond) })
	add("datetime", "timestamp", "Returns the seconds since the start of 1970 of utc: as in the reference, the offset counts twice.",
		"datetime(1970, 1, 2).timestamp", "86400.0", func(t time.Time, _ TimeSpan) any { return float64(t.Add(-offset(t)).UnixMicro()) / 1e6 })
	return all
}

// span returns the i-th argument, a time span, in microseconds.
func (c *Call) span(i int) int64 { return int64(c.args[i].(TimeSpan)) }

// checkedTime fails for dates outside the years 1 to 9999.
func checkedTime(v any) (any, error) {
	if t, ok := v.(time.Time); ok && (t.Year() < 1 || t.Year() > 9999) {
		return nil, Errorf(Value, "the date is not in the years 1 to 9999")
	}
	return v, nil
}

func spanOf(n *big.Int) (any, error) {
	if !n.IsInt64() {
		return nil, Errorf(Value, "time span too long")
	}
	return TimeSpan(n.Int64()), nil
}

// zoneOf returns the time zone of an offset. Only its whole seconds count.
func zoneOf(v any) (*time.Location, error) {
	seconds := int64(0)
	if ts, ok := v.(TimeSpan); ok {
		seconds = int64(ts) / 1e6
	}
	switch {
	case seconds == 0:
		return time.UTC, nil
	case seconds <= -86400 || seconds >= 86400:
		return nil, Errorf(Value, "the offset of a date must be less than a day")
	}
	return time.FixedZone("", int(seconds)), nil
}

// makeTime returns the date of the arguments from the given one on, with defaults for those that are null.
func (c *Call) makeTime(parts [7]int, zone *time.Location, first int) (any, error) {
	for i := range parts {
		if c.Arg(first+i) == nil {
			continue
		}
		var err error
		if parts[i], err = c.Int(first + i); err != nil {
			return nil, err
		}
	}
	if c.Arg(first+7) != nil {
		var err error
		if zone, err = zoneOf(c.Arg(first + 7)); err != nil {
			return nil, err
		}
	}
	return dateOf(parts, zone)
}

func dateOf(p [7]int, zone *time.Location) (any, error) {
	for i, limit := range [][2]int{{1, 9999}, {1, 12}, {1, 31}, {0, 23}, {0, 59}, {0, 59}, {0, 999999}} {
		if p[i] < limit[0] || p[i] > limit[1] {
			return nil, Errorf(Value, "%s %d is not from %d to %d",
				[]string{"year", "month", "day", "hour", "minute", "second", "microsecond"}[i], p[i], limit[0], limit[1])
		}
	}
	t := time.Date(p[0], time.Month(p[1]), p[2], p[3], p[4], p[5], p[6]*1000, zone)
	if t.Day() != p[2] {
		return nil, Errorf(Value, "there is no day %d in month %d of %d", p[2], p[1], p[0])
	}
	return t, nil
}

func timeOfStamp(c *Call) (any, error) {
	zone, err := zoneOf(c.Arg(1))
	if err != nil {
		return nil, err
	}
	x, err := floatOf(c.Arg(0))
	if err != nil || math.IsNaN(x) || math.Abs(x) > 1e12 {
		return nil, Errorf(Value, "timestamp out of range")
	}
	whole := math.Floor(x)
	us := math.RoundToEven((x - whole) * 1e6)
	return checkedTime(time.Unix(int64(whole), int64(us)*1000).In(zone))
}

// addSpan adds a time span, the second argument, to a date.
func addSpan(c *Call, sign int64) (any, error) {
	at, span := c.Arg(0).(time.Time), c.span(1)
	const most = 10_000 * 366 * 86400 * 1_000_000
	if span > most || span < -most {
		return nil, Errorf(Value, "the date is not in the years 1 to 9999")
	}
	span *= sign
	return checkedTime(time.Unix(at.Unix()+span/1e6, int64(at.Nanosecond())+span%1e6*1000).In(at.Location()))
}

func spanSum(op func(z, x, y *big.Int) *big.Int) func(*Call) (any, error) {
	return func(c *Call) (any, error) { return spanOf(op(new(big.Int), bigOf(c.span(0)), bigOf(c.span(1)))) }
}

// scaleSpan multiplies or divides a span and rounds half to even.
func scaleSpan(op byte, span, by any) (any, error) {
	v, err := arithmetic(op, span, by)
	if err != nil {
		return nil, err
	}
	f, ok := v.(float64)
	if !ok {
		return spanOf(bigOf(v))
	}
	if math.IsNaN(f) || math.Abs(f) >= math.MaxInt64 {
		return nil, Errorf(Value, "time span too long")
	}
	return TimeSpan(math.RoundToEven(f)), nil
}

// timeText returns the text of a date, or its notation in Python where it is part of a collection.
func timeText(t time.Time, nested bool) string {
	_, offset := t.Zone()
	if !nested {
		return strings.TrimSuffix(t.Format("2006-01-02 15:04:05.000000"), ".000000") + offsetText(offset, ":")
	}
	s := fmt.Sprintf("%d, %d, %d, %d, %d, %d, %d", t.Year(), t.Month(), t.Day(), t.Hour(),
		t.Minute(), t.Second(), t.Nanosecond()/1000)
	s = "datetime.datetime(" + strings.TrimSuffix(strings.TrimSuffix(s, ", 0"), ", 0")
	if offset == 0 {
		return s + ", tzinfo=tzutc())"
	}
	return s + fmt.Sprintf(", tzinfo=tzoffset(None, %d))", offset)
}

func offsetText(offset int, colon string) string {
	sign := '+'
	if offset < 0 {
		sign, offset = '-', -offset
	}
	s := fmt.Sprintf("%c%02d%s%02d", sign, offset/3600, colon, offset/60%60)
	if offset%60 != 0 {
		s += fmt.Sprintf("%s%02d", colon, offset%60)
	}
	return s
}

func spanText(ts TimeSpan, nested bool) string {
	const day = 86400e6
	days, rest := int64(ts)/day, int64(ts)%day
	if rest < 0 {
		days, rest = days-1, rest+day
	}
	seconds, us := rest/1e6, rest%1e6
	if nested {
		parts := ""
		for i, n := range []int64{days, seconds, us} {
			if n != 0 {
				parts += fmt.Sprintf(", %s=%d", []string{"days", "seconds", "microseconds"}[i], n)
			}
		}
		return "datetime.timedelta(" + cmp.Or(strings.TrimPrefix(parts, ", "), "0") + ")"
	}
	s := fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	if us > 0 {
		s += fmt.Sprintf(".%06d", us)
	}
	switch days {
	case 0:
		return s
	case 1, -1:
		return fmt.Sprintf("%d day, %s", days, s)
	}
	return fmt.Sprintf("%d days, %s", days, s)
}
