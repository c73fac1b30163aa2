// Rules, which relate properties of an object. The Go package internal/rule implements the same semantics; both are
// tested with its testdata/cases.json.

import { characters } from "./constraints.js";
import { isOutput, open } from "./output.js";
import { type Properties, type Shape, isPlain } from "./shape.js";

/** A literal, or an operator with its operands. Those of `get`, `has` and `default` are the names on a path. */
export type RuleExpression = boolean | number | string | readonly RuleExpression[];

/** A message about objects that break the rule, and the rule. */
export type Rule = readonly [message: string, holds: RuleExpression];

const rules = new WeakMap<Shape, readonly Rule[]>();

/** Returns the shape, whose objects must not break the rules. */
export function ruled<S extends Shape>(shape: S, ...list: Rule[]): S {
    rules.set(shape, list);
    return shape;
}

/** Checks the rules of an object. `isInvalid` reports whether an error was found at a path, whose value is then unknown. */
export function checkRules(
    shape: Shape,
    value: Properties,
    isInvalid: (path: readonly string[]) => boolean,
    fail: (message: string) => void,
): void {
    for (const [message, holds] of rules.get(shape) ?? []) {
        if (evaluate(holds, (path) => find(value, path, isInvalid)) === false) {
            fail(message);
        }
    }
}

const noParent = Symbol("an object on the path is absent");
const unknown = Symbol("the value is unknown");
const unknownParent = Symbol("an object on the path is unknown");

/** Returns the property at a path, undefined if it is absent, or one of the symbols. */
function find(value: Properties, path: readonly string[], isInvalid: (path: readonly string[]) => boolean): unknown {
    let found: unknown = value;
    for (let i = 0; i < path.length; i++) {
        const [name, last] = [path[i]!, i === path.length - 1];
        if (!isPlain(found)) {
            return unknownParent;
        }
        found = Object.hasOwn(found, name) ? open(found[name]).content : undefined;
        if (found === undefined || found === null) {
            return last ? undefined : noParent;
        }
        if (isOutput(found) || isInvalid(path.slice(0, i + 1))) {
            return last ? unknown : unknownParent;
        }
    }
    return found;
}

type Value = boolean | number | string;

/** Returns the value of an expression. It is undefined if an operand is absent or unknown and the others do not decide. */
function evaluate(expression: RuleExpression, find: (path: readonly string[]) => unknown): Value | undefined {
    if (typeof expression !== "object") {
        return expression;
    }
    const [operator, ...operands] = expression;
    const valueOf = (operand: RuleExpression | undefined) => evaluate(operand!, find);
    switch (operator) {
        case "has": {
            const found = find(operands as string[]);
            return found === unknownParent ? undefined : found !== undefined && found !== noParent;
        }
        case "get":
            return scalar(find(operands as string[]));
        case "default": {
            const found = find(operands.slice(1) as string[]);
            return found === undefined ? (operands[0] as Value) : scalar(found);
        }
        case "len":
            return length(operands[0]!, find);
        case "!": {
            const value = valueOf(operands[0]);
            return typeof value === "boolean" ? !value : undefined;
        }
        case "&&":
        case "||": {
            const decides = operator === "||";
            let result: boolean | undefined = !decides;
            for (const operand of operands) {
                const value = valueOf(operand);
                if (value === decides) {
                    return decides;
                }
                result = value === !decides ? result : undefined;
            }
            return result;
        }
    }
    const [a, b] = operands.map(valueOf);
    return a === undefined || b === undefined ? undefined : apply(operator as string, a, b);
}

function scalar(value: unknown): Value | undefined {
    return typeof value === "boolean" || typeof value === "number" || typeof value === "string" ? value : undefined;
}

/** Returns the number of characters, elements or entries of the operand. */
function length(operand: RuleExpression, find: (path: readonly string[]) => unknown): number | undefined {
    const [operator, ...path] = operand as readonly string[];
    const value = operator === "get" ? find(path) : evaluate(operand, find);
    if (typeof value === "string" || Array.isArray(value)) {
        return typeof value === "string" ? characters(value) : value.length;
    }
    return isPlain(value) ? Object.keys(value).length : undefined;
}

function apply(operator: string, a: Value, b: Value): Value | undefined {
    if (typeof a !== typeof b) {
        return undefined;
    }
    if (operator === "==" || operator === "!=") {
        return (a === b) === (operator === "==");
    }
    if (typeof a !== "number" || typeof b !== "number") {
        return undefined;
    }
    switch (operator) {
        case "<":
            return a < b;
        case "<=":
            return a <= b;
        case ">":
            return a > b;
        case ">=":
            return a >= b;
    }
    const result = operator === "+" ? a + b : operator === "-" ? a - b : a * b;
    return Number.isFinite(result) ? result : undefined;
}
