package pulumischema

// These types are the parts of Pulumi's schema that Lumi uses. See https://www.pulumi.com/docs/iac/using-pulumi/pulumi-packages/schema/.
type (
	packageSpec struct {
		Name        string             `json:"name"`
		Version     string             `json:"version,omitempty"`
		Description string             `json:"description,omitempty"`
		Meta        map[string]any     `json:"meta"`
		Language    map[string]any     `json:"language"`
		Config      configSpec         `json:"config"`
		Types       map[string]*object `json:"types,omitempty"`
		Provider    *object            `json:"provider"`
		Resources   map[string]*object `json:"resources,omitempty"`
		Functions   map[string]*object `json:"functions,omitempty"`
	}
	configSpec struct {
		Variables map[string]*typeSpec `json:"variables,omitempty"`
		// Required has a misleading name in JSON.
		Required []string `json:"defaults,omitempty"`
	}
	// object is a resource, a function or one half of it, or a type.
	object struct {
		Description        string               `json:"description,omitempty"`
		DeprecationMessage string               `json:"deprecationMessage,omitempty"`
		Type               string               `json:"type,omitempty"`
		Enum               []enumValue          `json:"enum,omitempty"`
		Properties         map[string]*typeSpec `json:"properties,omitempty"`
		Required           []string             `json:"required,omitempty"`
		InputProperties    map[string]*typeSpec `json:"inputProperties,omitempty"`
		RequiredInputs     []string             `json:"requiredInputs,omitempty"`
		Aliases            []map[string]string  `json:"aliases,omitempty"`
		Inputs             *object              `json:"inputs,omitempty"`
		Outputs            *object              `json:"outputs,omitempty"`
	}
	enumValue struct {
		Name               string `json:"name"`
		Value              string `json:"value"`
		Description        string `json:"description,omitempty"`
		DeprecationMessage string `json:"deprecationMessage,omitempty"`
	}
	// typeSpec is a type, or a property with its type.
	typeSpec struct {
		Type                 string    `json:"type,omitempty"`
		Ref                  string    `json:"$ref,omitempty"`
		Items                *typeSpec `json:"items,omitempty"`
		AdditionalProperties *typeSpec `json:"additionalProperties,omitempty"`
		Description          string    `json:"description,omitempty"`
		Secret               bool      `json:"secret,omitempty"`
		WillReplaceOnChanges bool      `json:"willReplaceOnChanges,omitempty"`
		DeprecationMessage   string    `json:"deprecationMessage,omitempty"`
	}
)
