import { describe } from "./describe.js";
import { isOutput } from "./output.js";
import { type Shape, type Type, isPlain } from "./shape.js";

/** The placeholder for a secret. */
const secretMark = "(secret)";

/**
 * Returns a copy of an object with secrets masked, for printing. Values of properties not in the shape are masked, too,
 * since their names may be misspelled names of secrets. `around` lists the enclosing objects.
 */
export function withoutSecrets(shape: Shape, value: object, around: readonly object[] = []): object {
    if (around.includes(value)) {
        // The program may have assigned a cyclic value.
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
 * Returns a description of a value that does not match its type, because the program assigned it after the check. The
 * description omits the content, since any part may be secret.
 */
function unlike(value: unknown): unknown {
    return value === undefined || value === null || isOutput(value) ? value : `[${describe(value, true)}]`;
}
