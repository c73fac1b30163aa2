// What a program knows of the environment that it is evaluated for.

import { describe, member } from "./describe.js";
import { ArgumentError, type Fault } from "./errors.js";
import { type Output, output } from "./output.js";
import { type Position, callerOf } from "./position.js";
import { EvaluationError, type Problem, inOrder } from "./problem.js";
import { type Setting, blame, currentNames, noProgram, program, watch } from "./recorder.js";
import {
    type Flat,
    type Optional,
    type Properties,
    type Property,
    type PropertyValue,
    type Secret,
    type Typed,
    isPlain,
} from "./shape.js";
import { didYouMean } from "./suggest.js";
import { Checker } from "./validate.js";
import { encode, secretSignature } from "./wire.js";

/** The environment that the program is evaluated for, such as `prod`. Outside an evaluation, its use throws an error. */
export let environment: string;
/** The program's module, which is its package. Outside an evaluation, its use throws an error. */
export let moduleName: string;

watch(() => {
    const names = currentNames();
    environment = names?.environment ?? missing("environment");
    moduleName = names?.package ?? missing("moduleName");
});

/** Returns a placeholder for a string. Exports cannot throw errors, but the conversion and methods of a value can. */
function missing(name: string): string {
    const get = (): never => {
        throw blame(new Error(`lumi.${name}: ${noProgram}`), get);
    };
    return new Proxy({}, { get }) as unknown as string;
}

/** The configuration that a program declares: a type, or a property for optional values and secrets, by key. */
export type Declarations = { readonly [key: string]: Typed<unknown> | Property };

/** The values of declared configuration. Secrets are outputs. */
export type Config<D extends Declarations> = Flat<
    { readonly [K in keyof D as D[K] extends Optional ? never : K]: ConfigValue<D[K]> } & {
        readonly [K in keyof D as D[K] extends Optional ? K : never]?: ConfigValue<D[K]> | undefined;
    }
>;

type ConfigValue<P> = P extends Property
    ? P extends Secret ? Output<PropertyValue<P>> : PropertyValue<P>
    : P extends Typed<infer T> ? T : never;

/**
 * Declares the program's configuration and returns its values. Throws an `EvaluationError` if values in Lumi.yaml do
 * not match their types, an `ArgumentError` for other invalid values and for a second call, and an `Error` if no
 * program is being evaluated.
 */
export function config<const D extends Declarations>(declarations: D): Config<D> {
    const evaluation = program("lumi.config", undefined, config);
    const checker = new Checker(false);
    const settings = new Map((evaluation.settings ?? []).map((setting) => [setting.key, setting]));
    let values: Properties = {};
    if (evaluation.declared !== undefined) {
        checker.fault("", "the program has already declared its configuration; it may do so only once");
    } else if (evaluation.settings === undefined) {
        checker.fault("", "lumi-program does not read configuration from Lumi.yaml; run the program with 'lumi plan'");
    } else if (!isPlain(declarations)) {
        checker.fault("", `expected an object with types, found ${describe(declarations, false)}`);
    } else {
        const shape = shapeOf(declarations, settings, checker);
        const given = [...settings.values()].filter(({ key, own }) => own || Object.hasOwn(shape, key));
        values = checker.struct(
            shape,
            Object.fromEntries(given.map(({ key, value }) => [key, value])),
            { path: "", secret: false },
            (key) => `the program declares no such configuration${didYouMean(key, Object.keys(shape))}`,
        );
        if (checker.faults.length === 0) {
            evaluation.declared = record(shape, values, checker);
        }
        const returned = (key: string, value: unknown) => (shape[key]?.secret ? output({ value, secret: true }) : value);
        values = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, returned(key, value)]));
    }
    if (checker.faults.length > 0) {
        throw blame(errorOf(checker.faults, [...settings.values()], callerOf(config)), config);
    }
    return values as Config<D>;
}

type Declared = { readonly [key: string]: Property };

/** Returns the shape of the declared configuration. It makes missing values optional after reporting them. */
function shapeOf(declarations: Declarations, settings: ReadonlyMap<string, Setting>, checker: Checker): Declared {
    const entries = Object.entries(declarations).flatMap(([key, declared]: [string, unknown]): [string, Property][] => {
        if (!isPlain(declared) || !("kind" in declared || "type" in declared)) {
            checker.fault(member("", key), `expected a type such as lumi.string, found ${describe(declared, false)}`);
            return [];
        }
        const property = ("kind" in declared ? { type: declared } : declared) as unknown as Property;
        const { value, secret } = settings.get(key) ?? { value: undefined };
        const isMissing = !property.optional && (value ?? undefined) === undefined;
        if (isMissing) {
            checker.fault(member("", key), "is required, but missing; add it to config in Lumi.yaml");
        }
        if (secret && !property.secret) {
            checker.fault(member("", key), "is a secret; declare it with lumi.required(TYPE, lumi.secretProperty)");
        }
        return [[key, { ...property, ...(secret ? { secret } : {}), ...(isMissing ? { optional: true } : {}) }]];
    });
    return Object.fromEntries(entries);
}

/** Returns configuration in wire form. Reports secrets within values, which the program would see. */
function record(shape: Declared, values: Properties, checker: Checker): object {
    const encoded = encode(shape, values, () => ({})) as Properties;
    for (const [key, value] of Object.entries(encoded)) {
        if (!shape[key]!.secret && JSON.stringify(value).includes(secretSignature)) {
            checker.fault(member("", key), "contains a secret; declare the whole value with lumi.secretProperty");
        }
    }
    return { ...Object.fromEntries(Object.keys(shape).map((key) => [key, null])), ...encoded };
}

/** Returns the error for faults, at the positions of the settings if there are any. */
function errorOf(faults: readonly Fault[], settings: readonly Setting[], caller: Position | undefined): Error {
    const places = placesOf(settings);
    const problems = faults.map(({ path, message }): Problem => {
        const position = placeOf(path, places);
        const notes = [{ message: "the program declares its configuration here", position: caller }];
        return position === undefined
            ? { message: `lumi.config: ${path}: ${message}`, position: caller }
            : { message: `${path}: ${message}`, position, notes };
    });
    return problems.some(({ notes }) => notes !== undefined)
        ? new EvaluationError(inOrder(problems))
        : new ArgumentError("lumi.config", undefined, faults);
}

/** Returns the positions of values by path. */
function placesOf(settings: readonly Setting[]): ReadonlyMap<string, Position> {
    const places = new Map<string, Position>();
    for (const { key, file, line, column, places: nested } of settings) {
        for (const place of [{ path: [], line: line!, column: column! }, ...(nested ?? [])]) {
            const path = place.path.reduce<string>(within, member("", key));
            if (file !== undefined) {
                places.set(path, { file, line: place.line, column: place.column });
            }
        }
    }
    return places;
}

function within(path: string, key: string | number): string {
    return typeof key === "number" ? `${path}[${key}]` : member(path, key);
}

/** Returns the position of the value at a path, or of the innermost value that contains it. */
function placeOf(path: string, places: ReadonlyMap<string, Position>): Position | undefined {
    for (let end = path.length; end > 0; end--) {
        const found = ["", ".", "["].includes(path.charAt(end)) ? places.get(path.slice(0, end)) : undefined;
        if (found !== undefined) {
            return found;
        }
    }
    return undefined;
}
