// The current component. It is stored in a place shared by all copies of this package, like the recorder.

import { describe } from "./describe.js";
import { blame } from "./recorder.js";

const place = Symbol.for("@lumi/lumi/component");

/** The part of AsyncLocalStorage used here. */
interface Storage {
    getStore(): string | undefined;
    run<T>(store: string, body: () => T): T;
}

/**
 * Runs a function and groups the resources that it constructs: the last part of their URNs starts with the name and a
 * slash. Components can be nested, and the function may be async. Returns the function's result.
 */
export function component<T>(name: string, body: () => T): T {
    if (typeof name !== "string" || name === "" || /[/\p{Cc}\p{Cs}]/u.test(name)) {
        const message =
            "lumi.component: expected a component name without slashes or control characters, " +
            `found ${describe(name, false)}`;
        throw blame(new TypeError(message), component);
    }
    if (typeof body !== "function") {
        const message = `expected a function that constructs resources, found ${describe(body, false)}`;
        throw blame(new TypeError(`lumi.component ${JSON.stringify(name)}: ${message}`), component);
    }
    return storage().run(`${prefix()}${name}/`, body);
}

/** Returns the name prefix of resources constructed in the current component. */
export function prefix(): string {
    return (globalThis as { [place]?: Storage })[place]?.getStore() ?? "";
}

function storage(): Storage {
    const global = globalThis as { [place]?: Storage };
    if (global[place] === undefined) {
        // Loaded lazily, so that programs without components do not pay for it.
        const { AsyncLocalStorage } = process.getBuiltinModule("node:async_hooks");
        Object.defineProperty(global, place, { value: new AsyncLocalStorage<string>(), configurable: true });
    }
    return global[place]!;
}
