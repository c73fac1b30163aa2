import { type Names, compare, formatURN } from "./names.js";
import { order } from "./order.js";
import type { Position } from "./position.js";
import type { Problem } from "./problem.js";
import type { Configured, Construction, Provided, Refer, Used } from "./recorder.js";
import { title } from "./state.js";

/** The result of a program, in LumiGL. */
export interface Graph {
    /** The key that marks references. The default is `#ref`. */
    readonly ref?: string;
    /** The program's package. */
    readonly package: string;
    /** The configuration that the program declares, by key. Unset values are null. */
    readonly config?: object;
    /** The configurations of providers, by package. */
    readonly configuration?: { readonly [pkg: string]: object };
    /** The resources by URN, in dependency order. */
    readonly resources: { readonly [urn: string]: Desired };
}

/** The desired state of a resource. */
export interface Desired {
    /** The type token. */
    readonly type: string;
    /** The options, if any. */
    readonly options?: object;
    /** The position of the constructor call, such as `network/main.ts:12:9`, relative to the workspace. */
    readonly source?: string;
    readonly properties: object;
}

/** A function that maps a file of the program to its name in the graph. */
export type FileName = (file: string) => string;

/** A resource or module in the graph. */
interface Vertex {
    readonly urn: string;
    readonly construction: Construction;
    /** -1 for a used module, which is sorted first, 1 for the program's own, which is last, and 0 for a resource. */
    readonly rank: -1 | 0 | 1;
    options?: object | undefined;
    properties: object;
    /** The vertices that this one refers to, each with the name of a referring property. */
    readonly edges: Map<Vertex, string>;
}

/** The target of a reference object, which is filled in once the key for references is known. */
interface Target {
    readonly resource: object;
    readonly property: string | undefined;
}

/** The values exchanged with other modules. */
export interface Shared {
    readonly provided: readonly Provided[];
    readonly used: readonly Used[];
}

/** The configuration of a program, and the configurations of providers in it and in Lumi.yaml. */
export interface Configurations {
    readonly config: object | undefined;
    readonly configurations: readonly Configured[];
    readonly providers: { readonly [pkg: string]: Position };
}

/** Returns the graph of a program and its errors. The graph is valid only if there are no errors. */
export function buildGraph(
    names: Names,
    constructions: readonly Construction[],
    { config, configurations, providers }: Configurations,
    { provided, used }: Shared,
    nameOf: FileName | undefined,
): { graph: Graph; problems: Problem[] } {
    const builder = new Builder(names, nameOf);
    constructions.forEach((construction) => builder.add(construction));
    const configuration = builder.configure(config, configurations, providers);
    builder.use(used);
    const resources = builder.link(provided);
    const tag = builder.fillReferences();
    const graph = {
        ...(tag === defaultTag ? {} : { ref: tag }),
        package: names.package,
        ...(config === undefined ? {} : { config }),
        ...(configurations.length === 0 ? {} : { configuration }),
        resources,
    };
    return { graph, problems: builder.problems };
}

const defaultTag = "#ref";

const moduleType = "lumi:index:Module";

class Builder {
    readonly problems: Problem[] = [];

    readonly #names: Names;
    readonly #nameOf: FileName | undefined;
    readonly #vertices = new Map<string, Vertex>();
    readonly #byResource = new Map<object, Vertex>();
    /** The number of unnamed resources of each type, by component. */
    readonly #unnamed = new Map<string, number>();
    readonly #references = new Map<object, Target>();
    /** Keys in data that could be mistaken for the key of a reference. */
    readonly #taken = new Set<string>();

    constructor(names: Names, nameOf: FileName | undefined) {
        this.#names = names;
        this.#nameOf = nameOf;
    }

    add(construction: Construction): void {
        const { resource, type, prefix } = construction;
        const name = prefix + (construction.name ?? this.#number(prefix + type));
        if (/\p{Cc}/u.test(name)) {
            this.#fault(construction, "name: must not contain control characters");
        }
        const urn = formatURN(this.#names, type, name);
        const vertex: Vertex = { urn, construction, rank: 0, properties: {}, edges: new Map() };
        const first = this.#vertices.get(urn);
        if (first === undefined) {
            this.#vertices.set(urn, vertex);
        } else {
            const { position } = first.construction;
            this.#fault(construction, "there is another resource of this type and name", [
                { message: "the other one is constructed here", position },
            ]);
        }
        this.#byResource.set(resource, vertex);
    }

    /** Returns the configurations of providers in wire form, by package. */
    configure(
        config: object | undefined,
        configurations: readonly Configured[],
        providers: Configurations["providers"],
    ): { [pkg: string]: object } {
        this.#scan(config, () => {});
        const found = new Map<string, object>();
        for (const { package: pkg, position, properties } of configurations) {
            if (found.has(pkg)) {
                // A copy of this package detects only its own duplicates.
                this.problems.push({ message: `${pkg}: the package is already configured`, position });
            } else if (Object.hasOwn(providers, pkg)) {
                const notes = [{ message: "the other configuration is here", position: providers[pkg] }];
                const message = `${pkg}: the package is also configured in Lumi.yaml; remove one of the two`;
                this.problems.push({ message, position, notes });
            }
            const bag = properties(() => {
                throw new TypeError(`${pkg}: a configuration cannot refer to resources`);
            });
            this.#scan(bag, () => {});
            found.set(pkg, bag);
        }
        return Object.fromEntries([...found].sort(([a], [b]) => compare(a, b)));
    }

    /** Adds the used modules as vertices. */
    use(used: readonly Used[]): void {
        const uses = new Map<Vertex, Map<string, Used>>();
        for (const each of used) {
            const { vertex: object, module, name, position } = each;
            const names = { environment: this.#names.environment, package: module };
            const vertex = this.#vertices.get(moduleURN(names)) ?? this.#addModule(names, -1);
            this.#byResource.set(object, vertex);
            const fault = (message: string, notes: Problem["notes"] = []): void => {
                this.problems.push({ message: `module ${JSON.stringify(module)}: ${message}`, position, notes });
            };
            if (module === this.#names.package) {
                fault("is the program's own module, which cannot use what it provides");
                continue;
            }
            const entries = uses.get(vertex) ?? new Map<string, Used>();
            uses.set(vertex, entries);
            const first = entries.get(name) ?? each;
            entries.set(name, first);
            if (expectation(first) !== expectation(each)) {
                const [here, there] = [expectation(each), expectation(first)];
                fault(`${name} is used as ${here} here, but as ${there} elsewhere`, [
                    { message: "the other use is here", position: first.position },
                ]);
            }
        }
        for (const [vertex, entries] of uses) {
            const values = [...entries].map(([name, { type, where }]) => {
                this.#scan(type, () => {});
                return [name, where === undefined ? { type } : { type, where }];
            });
            vertex.properties = { uses: Object.fromEntries(values) };
        }
    }

    /** Encodes the resources and provided values, and returns the vertices by URN in dependency order. */
    link(provided: readonly Provided[]): { [urn: string]: Desired } {
        for (const vertex of this.#byResource.values()) {
            if (vertex.rank === 0) {
                this.#encode(vertex);
            }
        }
        this.#provide(provided);
        const vertices = [...this.#vertices.values()].sort((a, b) => a.rank - b.rank || compare(a.urn, b.urn));
        if (this.problems.length === 0) {
            const ranks = new Map(vertices.map((vertex, i) => [vertex, i]));
            const edges = vertices.map((vertex) => new Set([...vertex.edges.keys()].map((to) => ranks.get(to)!)));
            const { sequence, circles } = order(edges);
            circles.forEach((circle) => this.#refuseCircle(circle.map((i) => vertices[i]!)));
            const entry = (i: number): [string, Desired] => {
                const { urn, construction, options, properties } = vertices[i]!;
                const source = this.#sourceOf(construction.position);
                const desired = {
                    type: construction.type,
                    ...(options === undefined ? {} : { options }),
                    ...(source === undefined ? {} : { source }),
                    properties,
                };
                return [urn, desired];
            };
            return Object.fromEntries(sequence.map(entry));
        }
        return {};
    }

    /** Fills in the reference objects and returns their key. */
    fillReferences(): string {
        let tag = defaultTag;
        for (let n = 2; this.#taken.has(tag); n++) {
            tag = `${defaultTag}${n}`;
        }
        for (const [object, { resource, property }] of this.#references) {
            const urn = this.#byResource.get(resource)?.urn;
            Object.assign(object, { [tag]: urn }, property === undefined ? {} : { property });
        }
        return tag;
    }

    /** Adds the program's own module as a vertex if it provides any values. */
    #provide(provided: readonly Provided[]): void {
        if (provided.length === 0) {
            return;
        }
        const vertex = this.#addModule(this.#names, 1);
        const entries = new Map<string, Provided>();
        const values: [string, object][] = [];
        for (const each of provided) {
            const { name, type, position } = each;
            const fault = (message: string, notes: Problem["notes"] = []): void => {
                this.problems.push({ message: `lumi.provide ${JSON.stringify(name)}: ${message}`, position, notes });
            };
            const first = entries.get(name);
            if (first !== undefined) {
                fault("another value is provided under this name", [
                    { message: "the other one is provided here", position: first.position },
                ]);
                continue;
            }
            entries.set(name, each);
            const entry = { type, value: each.value(this.#refer) };
            this.#connect(vertex, `provides.${name}`, entry, () =>
                fault("refers to a resource in another program"),
            );
            values.push([name, entry]);
        }
        vertex.properties = { provides: Object.fromEntries(values) };
    }

    #addModule(names: Names, rank: -1 | 1): Vertex {
        const urn = moduleURN(names);
        const construction = {
            resource: {},
            type: moduleType,
            name: lastPart(names.package),
            prefix: "",
            position: undefined,
            properties: () => ({}),
        };
        const vertex: Vertex = { urn, construction, rank, properties: {}, edges: new Map() };
        this.#vertices.set(urn, vertex);
        return vertex;
    }

    #sourceOf(position: Position | undefined): string | undefined {
        if (this.#nameOf === undefined || position === undefined) {
            return undefined;
        }
        const { file, line, column } = position;
        return `${this.#nameOf(file)}:${line}:${column}`;
    }

    /** Returns an empty reference object, which fillReferences fills in. */
    readonly #refer: Refer = (resource, property) => {
        const object = {};
        this.#references.set(object, { resource, property });
        return object;
    };

    #number(key: string): string {
        const n = (this.#unnamed.get(key) ?? 0) + 1;
        this.#unnamed.set(key, n);
        return `#${n}`;
    }

    #encode(vertex: Vertex): void {
        const { construction } = vertex;
        try {
            vertex.properties = construction.properties(this.#refer);
            vertex.options = this.#withFormerTypes(vertex, construction.options?.(this.#refer));
        } catch (error) {
            const message = error instanceof Error ? error.message : String(error);
            this.problems.push({ message, position: construction.position });
            return;
        }
        const foreign = (name: string): void =>
            this.#fault(construction, `${name}: refers to a resource in another program`);
        const options = Object.entries(vertex.options ?? {});
        const values = [
            ...Object.entries(vertex.properties),
            ...options.map(([name, value]): [string, unknown] => [`options.${name}`, value]),
        ];
        for (const [name, value] of values) {
            this.#connect(vertex, name, value, foreign);
        }
    }

    /** Returns options with aliases added: the URNs for all former types and all current and former names. */
    #withFormerTypes(vertex: Vertex, options: object | undefined): object | undefined {
        const { construction, urn } = vertex;
        const former = construction.formerTypes ?? [];
        if (former.length === 0) {
            return options;
        }
        const aliases = (options as { aliases?: readonly string[] } | undefined)?.aliases ?? [];
        const now = formatURN(this.#names, construction.type, "");
        const names = [urn.slice(now.length), ...aliases.filter((alias) => !alias.startsWith("urn:"))];
        const all = former.flatMap((type) => names.map((name) => formatURN(this.#names, type, name)));
        const extended = { aliases: [...aliases, ...all] }; // the first option in key order
        return { ...extended, ...options, ...extended };
    }

    /** Adds an edge to each resource that a value refers to. Calls `foreign` for resources of other programs. */
    #connect(vertex: Vertex, name: string, value: unknown, foreign: (name: string) => void): void {
        this.#scan(value, ({ resource }) => {
            const to = this.#byResource.get(resource);
            if (to === undefined) {
                foreign(name);
            } else if (!vertex.edges.has(to)) {
                vertex.edges.set(to, name);
            }
        });
    }

    /**
     * Calls `found` for each reference in a value, and records keys that could be mistaken for the key of references.
     */
    #scan(value: unknown, found: (target: Target) => void): void {
        if (typeof value !== "object" || value === null) {
            return;
        }
        const target = this.#references.get(value);
        if (target !== undefined) {
            found(target);
            return;
        }
        for (const [key, element] of Object.entries(value)) {
            if (key.startsWith(defaultTag)) {
                this.#taken.add(key);
            }
            this.#scan(element, found);
        }
    }

    #refuseCircle(circle: readonly Vertex[]): void {
        const notes = circle.map((from, i) => {
            const to = circle[(i + 1) % circle.length]!;
            return {
                message: `${describe(from)} refers to ${describe(to)} in ${from.edges.get(to)}`,
                position: from.construction.position,
            };
        });
        const [first] = circle;
        this.#fault(first!.construction, "is part of a dependency cycle", notes);
    }

    #fault(construction: Construction, message: string, notes: Problem["notes"] = []): void {
        const { type, name, prefix, position } = construction;
        this.problems.push({ message: `${title(type, name && prefix + name)}: ${message}`, position, notes });
    }
}

function moduleURN(names: Names): string {
    return formatURN(names, moduleType, lastPart(names.package));
}

/** Returns the last part of a package name. */
function lastPart(pkg: string): string {
    return pkg.slice(pkg.lastIndexOf("/") + 1);
}

/** Formats the expected type of a used value and its predicate. */
function expectation({ type, where }: Used): string {
    return JSON.stringify(type) + (where === undefined ? "" : ` where ${where}`);
}

/** Returns the type and name of a resource for messages. An unnamed resource has a number instead of a name. */
function describe({ urn, construction: { type, name, prefix } }: Vertex): string {
    return name === undefined ? `${type} ${urn.slice(urn.lastIndexOf("::") + 2)}` : title(type, prefix + name);
}
