import { describe } from "./describe.js";
import { isOutput } from "./output.js";
import { type Shape, type Type, isPlain } from "./shape.js";

/** What is shown in place of a secret. */
const secretMark = "(secret)";

/**
 * Copies the properties of an object, with a mark in place of each secret. Names outside of the shape may be mistyped
 * names of secrets, so their values are not shown.
 */
export function withoutSecrets(shape: Shape, value: object, around: readonly object[] = []): object {
    if (around.includes(value)) {
        // Values that a program assigned may contain themselves until they are checked again.
        return {};
    }
    const inside = [...around, value];
    const copy: [string, unknown][] = [];
    for (const [name, element] of Object.entries(value)) {
        const property = Object.hasOwn(shape, name) ? shape[name] : undefined;
        if (property?.secret) {
            copy.push([name, element === undefined ? undefined : secretMark]);
        } else if (property !== undefined) {
            copy.push([name, redact(property.type, element, inside)]);
        } else {
            copy.push([name, unlike(element)]);
        }
    }
    return Object.fromEntries(copy.filter(([, element]) => element !== undefined));
}

function redact(type: Type, value: unknown, around: readonly object[]): unknown {
    switch (type.kind) {
        case "list":
            return Array.isArray(value)
                ? value.map((element) => redact(type.element, element, around))
                : unlike(value);
        case "map":
            return isPlain(value)
                ? Object.fromEntries(Object.entries(value).map(([key, e]) => [key, redact(type.element, e, around)]))
                : unlike(value);
        case "struct":
            return isPlain(value) ? withoutSecrets(type.shape(), value, around) : unlike(value);
        default:
            return value;
    }
}

/**
 * Shows a value that is not of its type, as a program may have assigned anything since values were checked. Nobody can
 * say which parts of it are secret.
 */
function unlike(value: unknown): unknown {
    return value === undefined || value === null || isOutput(value) ? value : `[${describe(value, true)}]`;
}
