package features

// Uses takes oddly named types from another file.
type Uses struct {
	Abstract abstract
	Accessor *accessor `lumi:"optional"`
	As       abstract
	Async    []async
	Asserts  asserts
	Declare  declare
	From     from
	Is       *is `lumi:"optional"`
	Module   module
	Of       map[accessor]of
	Out      out
}
