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
		Document("Returns the date and time for a Unix time in seconds.", `datetime(86400).day`, `2`),
	Func("datetime", "string string, format string=null", func(c *Call) (any, error) {
		if f := c.String(1); f != "" {
			return strptime(c.String(0), f)
		}
		return parseTime(c.String(0), time.Now())
	}).Document("Parses a date and time, optionally with a format of Python's strptime. The default time zone is UTC.",
		`str(datetime('2020-02-29T12:30:00+02:00'))`, `"2020-02-29 12:30:00+02:00"`, `datetime('29.02.2020', '%d.%m.%Y').month`, `2`, `datetime(x)`, `error: value`),
	Func("timespan", "days int=0, hours int=0, minutes int=0, seconds integer=0, milliseconds integer=0, microseconds integer=0", func(c *Call) (any, error) {
		sum := new(big.Int)
		for i, unit := range []int64{86400e6, 3600e6, 60e6, 1e6, 1e3, 1} {
			sum.Add(sum, new(big.Int).Mul(bigOf(c.Arg(i)), big.NewInt(unit)))
		}
		return spanOf(normInt(sum), nil)
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
		Document("Returns a zero offset.", `utctz().seconds`, `0.0`),
	Method("replace", "dt datetime, year int=null, month int=null, day int=null, hour int=null, minute int=null, second int=null, microsecond int=null, offset timespan=null", func(c *Call) (any, error) {
		t := c.Arg(0).(time.Time)
		return c.makeTime(partsOf(t), t.Location(), 1)
	}).Document("Returns the date and time with the given parts replaced.",
		`datetime(2020, 1, 2).replace(day => 5).day`, `5`),
	Method("format", "dt datetime, format string", func(c *Call) (any, error) { return c.strftime(c.Arg(0).(time.Time), c.String(1)) }).
		Document("Formats a date and time like C's strftime.",
			`datetime(2020, 2, 29).format('%d.%m.%y %A')`, `"29.02.20 Saturday"`),
	Func("isDatetime", "value any", value(func(c *Call) any { return classOf(c.Arg(0)) == clTime })).
		Document("Returns whether the value is a date and time.", `isDatetime(now())`, `true`, `isDatetime(1)`, `false`),
	Func("isTimespan", "value any", value(func(c *Call) any { return classOf(c.Arg(0)) == clSpan })).
		Document("Returns whether the value is a time span.", `isTimespan(timespan())`, `true`, `isTimespan(1)`, `false`),
	Func("#operator_+", "dt datetime, ts timespan", func(c *Call) (any, error) { return addSpan(c, '+') }).eitherWay().
		Document("Adds a time span to a date and time.", `(datetime(2020, 2, 28) + timespan(days => 2)).month`, `3`,
			`(timespan(days => 2) + datetime(2020, 2, 28)).day`, `1`),
	Func("#operator_-", "dt datetime, ts timespan", func(c *Call) (any, error) { return addSpan(c, '-') }).
		Document("Subtracts a time span from a date and time.", `(datetime(2020, 3, 1) - timespan(days => 1)).day`, `29`),
	Func("#operator_-", "dt1 datetime, dt2 datetime", value(func(c *Call) any {
		return TimeSpan(c.Arg(0).(time.Time).UnixMicro() - c.Arg(1).(time.Time).UnixMicro())
	})).
		Document("Returns the time between two dates.", `(datetime(2020, 3, 1) - datetime(2020, 2, 1)).days`, `29.0`),
	Func("#operator_+", "ts1 timespan, ts2 timespan", func(c *Call) (any, error) {
		return spanOf(arithmetic('+', c.span(0), c.span(1)))
	}).Document("Adds time spans.", `(timespan(1) + timespan(2)).days`, `3.0`),
	Func("#operator_-", "ts1 timespan, ts2 timespan", func(c *Call) (any, error) {
		return spanOf(arithmetic('-', c.span(0), c.span(1)))
	}).Document("Subtracts time spans.", `(timespan(1) - timespan(2)).days`, `-1.0`),
	Func("#operator_*", "ts timespan, n number", func(c *Call) (any, error) {
		return spanOf(arithmetic('*', c.span(0), c.Arg(1)))
	}).eitherWay().Document("Multiplies a time span.", `(timespan(1) * 1.5).hours`, `36.0`, `(2 * timespan(1)).days`, `2.0`),
	Func("#operator_/", "ts1 timespan, ts2 timespan", func(c *Call) (any, error) {
		return arithmetic('/', float64(c.span(0)), c.span(1))
	}).Document("Returns the ratio of two time spans.", `timespan(1) / timespan(hours => 10)`, `2.4`),
	Func("#operator_/", "ts timespan, n number", func(c *Call) (any, error) {
		return spanOf(arithmetic('/', float64(c.span(0)), c.Arg(1)))
	}).Document("Divides a time span, rounding to the nearest microsecond.", `(timespan(1) / 5).hours`, `4.8`),
	Func("#unary_operator_-", "ts timespan", func(c *Call) (any, error) { return spanOf(negate(c.span(0)), nil) }).
		Document("Negates a time span.", `(-timespan(1)).days`, `-1.0`),
	Func("#unary_operator_+", "ts timespan", value(func(c *Call) any { return c.Arg(0) })).
		Document("Returns the operand.", `(+timespan(1)).days`, `1.0`),
}, timeProperties()...)

// property declares #property#name, the function that evaluates $.name.
func property[T any](typ, name, doc, sample, result string, of func(T) any) *Function {
	call := func(c *Call) (any, error) { return checkedTime(of(c.Arg(0).(T))) }
	return Func("#property#"+name, "value "+typ, call).Document(doc, sample+"."+name, result)
}

func timeProperties() []*Function {
	date := func(name, doc, result string, of func(t time.Time) any) *Function {
		return property("datetime", name, doc, "datetime(2020, 2, 29, 13, 14, 15, 16)", result, of)
	}
	midnight := func(t time.Time) time.Time {
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
	}
	all := []*Function{
		date("date", "Returns the start of the day.", `"2020-02-29T00:00:00Z"`, func(t time.Time) any { return midnight(t) }),
		date("time", "Returns the time since the start of the day.", "47655.000016",
			func(t time.Time) any { return TimeSpan(t.Sub(midnight(t)) / time.Microsecond) }),
		date("utc", "Subtracts the offset from the time of day. As in the reference, the result keeps the offset.",
			`"2020-02-29T13:14:15.000016Z"`,
			func(t time.Time) any { return t.Add(-offsetOf(t)) }),
		date("offset", "Returns the offset from UTC.", "0.0", func(t time.Time) any { return TimeSpan(offsetOf(t) / time.Microsecond) }),
		date("timestamp", "Returns the Unix time of utc. As in the reference, the offset is counted twice.",
			"1.582982055000016e+09", func(t time.Time) any { return float64(t.Add(-offsetOf(t)).UnixMicro()) / 1e6 }),
		date("weekday", "Returns the day of the week; Monday is 0.", "5", func(t time.Time) any { return int64(weekday(t)) }),
		property("timespan", "microseconds", "Returns a time span in microseconds.", "timespan(1)", "86400000000",
			func(ts TimeSpan) any { return int64(ts) }),
	}
	for i, name := range []string{"year", "month", "day", "hour", "minute", "second", "microsecond"} {
		all = append(all, date(name, "Returns the "+name+" of a date and time.", []string{"2020", "2", "29", "13", "14", "15", "16"}[i],
			func(t time.Time) any { return int64(partsOf(t)[i]) }))
	}
	for i, name := range []string{"milliseconds", "seconds", "minutes", "hours", "days"} {
		micros := []float64{1e3, 1e6, 60e6, 3600e6, 86400e6}[i]
		all = append(all, property("timespan", name, "Returns a time span in "+name+".", "timespan(seconds => 45)",
			floatNotation(45e6/micros, -1, 16), func(ts TimeSpan) any { return float64(ts) / micros }))
	}
	return all
}

// span returns the ith argument, which must be a time span, in microseconds.
func (c *Call) span(i int) int64 { return int64(c.args[i].(TimeSpan)) }

// spanOf converts a number of microseconds to a time span, rounding half to even. If err is not nil, it returns err.
func spanOf(v any, err error) (any, error) {
	f, isFloat := v.(float64)
	switch n, isInt := v.(int64); {
	case err != nil:
		return nil, err
	case isInt:
		return TimeSpan(n), nil
	case !isFloat || math.IsNaN(f) || math.Abs(f) >= math.MaxInt64:
		return nil, Errorf(Value, "time span too long")
	}
	return TimeSpan(math.RoundToEven(f)), nil
}

// makeTime returns a date. Its parts are the arguments from index first; null arguments default to the values in parts.
func (c *Call) makeTime(parts [7]int, zone *time.Location, first int) (_ any, err error) {
	for i := range parts {
		if c.Arg(first+i) == nil {
			continue
		}
		if parts[i], err = c.Int(first + i); err != nil {
			return nil, err
		}
	}
	if c.Arg(first+7) != nil {
		if zone, err = zoneOf(c.Arg(first + 7)); err != nil {
			return nil, err
		}
	}
	return dateOf(parts, zone)
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
	return checkedTime(time.UnixMicro(int64(whole)*1e6 + int64(math.RoundToEven((x-whole)*1e6))).In(zone))
}

// addSpan adds the time span in the second argument to a date. If op is '-', it subtracts the time span.
func addSpan(c *Call, op byte) (any, error) {
	at := c.Arg(0).(time.Time)
	sum, err := spanOf(arithmetic(op, at.UnixMicro(), c.span(1)))
	if err != nil {
		return nil, err
	}
	return checkedTime(time.UnixMicro(int64(sum.(TimeSpan))).In(at.Location()))
}

// timeText formats a date. If nested is set, it returns the Python expression used within collections.
func timeText(t time.Time, nested bool) string {
	if !nested {
		return strings.TrimSuffix(t.Format("2006-01-02 15:04:05.000000"), ".000000") + offsetText(t, ":")
	}
	s := fmt.Sprintf("%d, %d, %d, %d, %d, %d, %d", t.Year(), t.Month(), t.Day(), t.Hour(),
		t.Minute(), t.Second(), t.Nanosecond()/1000)
	s = "datetime.datetime(" + strings.TrimSuffix(strings.TrimSuffix(s, ", 0"), ", 0")
	if offset := offsetOf(t) / time.Second; offset != 0 {
		return s + fmt.Sprintf(", tzinfo=tzoffset(None, %d))", offset)
	}
	return s + ", tzinfo=tzutc())"
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
	s := time.UnixMicro(rest).UTC().Format("15:04:05.000000")
	s = strings.TrimPrefix(strings.TrimSuffix(s, ".000000"), "0")
	switch days {
	case 0:
		return s
	case 1, -1:
		return fmt.Sprintf("%d day, %s", days, s)
	}
	return fmt.Sprintf("%d days, %s", days, s)
}
