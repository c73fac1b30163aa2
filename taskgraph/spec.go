package taskgraph

// Spec returns what the attributes say. The error is an *[Error] with all that is wrong with them.
func (t Task) Spec() (*Spec, error) {
	s := &Spec{ID: t.ID}
	s.Type, _ = t.Attributes["type"].(string)
	s.Roles, _ = NewSelector("*")
	s.Parameters, _ = t.Attributes["parameters"].(map[string]any)
	s.Condition, _ = t.Attributes["condition"].(string)
	s.Requires = texts(t.Attributes["requires"])
	s.RequiredFor = texts(t.Attributes["required_for"])
	s.Tasks = texts(t.Attributes["tasks"])
	return s, nil
}

func texts(v any) []string {
	var all []string
	list, _ := v.([]any)
	for _, item := range list {
		text, _ := item.(string)
		all = append(all, text)
	}
	return all
}

// Check returns the specs of effective tasks. The error is an *[Error] with everything that is wrong with the tasks and between them: unknown
// dependencies, types that are not among those, missing parameters, and cycles, also across nodes.
func Check(e *Effective, types func(name string) (check func(parameters map[string]any) []string, ok bool)) ([]*Spec, error) {
	var all []*Spec
	for _, t := range e.Tasks {
		s, err := t.Spec()
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}
