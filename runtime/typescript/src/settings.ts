import { describe } from "./describe.js";
import { formatURN, isURN } from "./names.js";
import { follow, parsePath } from "./path.js";
import type { Refer } from "./recorder.js";
import * as shapes from "./shape.js";
import { type Properties, type Property, type Shape, isPlain } from "./shape.js";
import { didYouMean } from "./suggest.js";
import { Checker } from "./validate.js";

const timeouts: Shape = {
    create: shapes.optional(shapes.string),
    update: shapes.optional(shapes.string),
    delete: shapes.optional(shapes.string),
};

const flag = shapes.optional(shapes.boolean);
const strings = shapes.optional(shapes.list(shapes.string));

// The keys are sorted, as in graphs.
const optionsShape: Shape = {
    aliases: strings,
    deleteBeforeReplace: flag,
    dependsOn: shapes.optional(shapes.list({ kind: "resource" })),
    ignoreChanges: strings,
    import: shapes.optional(shapes.string),
    protect: flag,
    replaceOnChanges: strings,
    retainOnDelete: flag,
    timeouts: shapes.optional(shapes.struct(() => timeouts)),
};

/** Reports whether there is an option with the given name. */
export function isOption(name: string): boolean {
    return Object.hasOwn(optionsShape, name);
}

/** Checks the options of a resource with the given shape, and returns a copy of the options. */
export function checkOptions(checker: Checker, given: unknown, shape: Shape): Properties {
    if (!isPlain(given)) {
        checker.fault("options", `expected an object with options, found ${describe(given, false)}`);
        return {};
    }
    const own = new Checker(false);
    const unknown = (name: string): string => `no such option${didYouMean(name, Object.keys(optionsShape))}`;
    const options = own.struct(optionsShape, given, { path: "options", secret: false }, unknown);
    for (const [name, value] of Object.entries(options)) {
        const list = Array.isArray(value) ? value : [value];
        for (const [i, element] of list.entries()) {
            const path = Array.isArray(value) ? `options.${name}[${i}]` : `options.${name}`;
            const problem = typeof element === "string" ? problemOf(name, element, shape) : undefined;
            if (problem !== undefined) {
                own.fault(path, problem);
            }
        }
    }
    for (const [name, duration] of Object.entries(options["timeouts"] ?? {})) {
        if (typeof duration === "string" && !isDuration(duration)) {
            own.fault(
                `options.timeouts.${name}`,
                `expected a duration such as "90s", "10m" or "1h30m", found ${describe(duration, false)}`,
            );
        }
    }
    checker.faults.push(...own.faults);
    return options;
}

const example = { environment: "dev", package: "shop" };

/** Returns an error message if the string in an option is invalid, or `undefined`. */
export function problemOf(option: string, value: string, shape: Shape): string | undefined {
    if (option === "aliases" || option === "import") {
        const what = option === "import" ? "an id" : "a former name or URN";
        if (value === "" || /\p{Cc}/u.test(value)) {
            return `expected ${what}, found ${describe(value, false)}`;
        }
        return option === "aliases" && value.startsWith("urn:") && !isURN(value)
            ? `${describe(value, false)} is not a URN such as "${formatURN(example, "aws:s3:Bucket", "logs")}"`
            : undefined;
    }
    const steps = parsePath(value);
    if (steps === undefined) {
        return `${describe(value, false)} is not a path such as "tags.env", "rules[2].port" or "rules[*].port"`;
    }
    const found = follow({ kind: "struct", shape: () => shape }, steps, ({ out }: Property) =>
        out ? "is set by the provider and cannot be changed by a program" : undefined,
    );
    return typeof found === "string" ? found : undefined;
}

/** Reports whether a string is a positive duration. */
function isDuration(text: string): boolean {
    return /^(?=.)(?:\d{1,6}h)?(?:\d{1,6}m)?(?:\d{1,6}s)?$/.test(text) && /[1-9]/.test(text);
}

/** Returns options in graph form, or `undefined` if all have their defaults. */
export function encodeOptions(options: Properties, refer: Refer): object | undefined {
    const entries = Object.entries(options).flatMap(([name, value]): [string, unknown][] => {
        const isDefault = value === false && name !== "deleteBeforeReplace"; // false forces the other order
        if (isDefault || (typeof value === "object" && Object.keys(value!).length === 0)) {
            return [];
        }
        return [[name, name === "dependsOn" ? (value as object[]).map((on) => refer(on)) : value]];
    });
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
