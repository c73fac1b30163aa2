// The current component. Like the recorder, it is shared by all copies of this package.

import { describe } from "./describe.js";
import { blame } from "./recorder.js";

const place = Symbol.for("@lumi/lumi/component");

/** The part of AsyncLocalStorage used here. */
interface Storage {
    getStore(): string | undefined;
    run<T>(store: string, body: () => T): T;
}

/**
 * Runs a function, in which resources are constructed with names prefixed by the component's name and a slash. Returns
 * the function's result. Components can be nested, and the function may be async. Throws a `TypeError` if the name is
 * invalid.
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

/** Returns the prefix of the names of resources in the current component, which is empty outside of components. */
export function prefix(): string {
    return (globalThis as { [place]?: Storage })[place]?.getStore() ?? "";
}

function storage(): Storage {
    const global = globalThis as { [place]?: Storage };
    if (global[place] === undefined) {
        // Load the module lazily, since most programs have no components.
        const { AsyncLocalStorage } = process.getBuiltinModule("node:async_hooks");
        Object.defineProperty(global, place, { value: new AsyncLocalStorage<string>(), configurable: true });
    }
    return global[place]!;
}
