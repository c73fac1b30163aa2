package muranopl

// core are the classes of io.murano that workflows build on.
var core = Declarations{
	rootClass: {Name: rootClass, Tree: Tree(map[string]any{})},
	exceptionClass: {Name: exceptionClass, Tree: Tree(map[string]any{"Properties": map[string]any{
		"name":       runtimeProperty(),
		"message":    runtimeProperty(),
		"extra":      runtimeProperty(),
		"stackTrace": runtimeProperty(),
	}})},
}

func runtimeProperty() any { return map[string]any{"Contract": Expression("$"), "Usage": "Runtime"} }
