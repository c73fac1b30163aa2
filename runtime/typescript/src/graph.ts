import { type Names, compare, formatURN } from "./names.js";
import { order } from "./order.js";
import type { Position } from "./position.js";
import type { Problem } from "./problem.js";
import type { Configured, Construction, Refer } from "./recorder.js";
import { title } from "./state.js";

/** What a program evaluates to, in LumiGL. */
export interface Graph {
    /** The key that marks references, where it is not `#ref`. */
    readonly ref?: string;
    /** The package that the program belongs to. */
    readonly package: string;
    /** What providers are configured with, by the names of their packages. */
    readonly configuration?: { readonly [pkg: string]: object };
    /** The resources by their URNs, each behind all that it refers to. */
    readonly resources: { readonly [urn: string]: Desired };
}

/** What a resource shall be. */
export interface Desired {
    /** The type token. */
    readonly type: string;
    /** How an engine treats it, unless all is as usual. */
    readonly options?: object;
    /** Where the program constructs it, such as `network/main.ts:12:9`, as seen from the workspace. */
    readonly source?: string;
    readonly properties: object;
}

/** Names a file of a program in the graph. */
export type FileName = (file: string) => string;

/** A resource on its way into the graph. */
interface Vertex {
    readonly urn: string;
    readonly construction: Construction;
    options?: object | undefined;
    properties: object;
    /** The resources that it refers to, each with the name of a property that does. */
    readonly edges: Map<Vertex, string>;
}

/** What a reference object will say, once it is known under which key. */
interface Target {
    readonly resource: object;
    readonly property: string | undefined;
}

/** Makes the graph of what a program constructed. If there are problems, the graph is of no use. */
export function buildGraph(
    names: Names,
    constructions: readonly Construction[],
    configurations: readonly Configured[],
    nameOf: FileName | undefined,
): { graph: Graph; problems: readonly Problem[] } {
    const builder = new Builder(names, nameOf);
    constructions.forEach((construction) => builder.add(construction));
    const configuration = builder.configure(configurations);
    const resources = builder.link();
    const tag = builder.fillReferences();
    const graph = {
        ...(tag === defaultTag ? {} : { ref: tag }),
        package: names.package,
        ...(configurations.length === 0 ? {} : { configuration }),
        resources,
    };
    return { graph, problems: builder.problems };
}

const defaultTag = "#ref";

class Builder {
    readonly problems: Problem[] = [];

    readonly #names: Names;
    readonly #nameOf: FileName | undefined;
    readonly #vertices = new Map<string, Vertex>();
    readonly #byResource = new Map<object, Vertex>();
    /** How many unnamed resources there are of each type, in each component. */
    readonly #unnamed = new Map<string, number>();
    readonly #references = new Map<object, Target>();
    /** Keys of data that could be taken for the key of a reference. */
    readonly #taken = new Set<string>();

    constructor(names: Names, nameOf: FileName | undefined) {
        this.#names = names;
        this.#nameOf = nameOf;
    }

    /** Adds a resource as a vertex. */
    add(construction: Construction): void {
        const { resource, type, prefix } = construction;
        const name = prefix + (construction.name ?? this.#number(prefix + type));
        if (/\p{Cc}/u.test(name)) {
            this.#fault(construction, "name: must not have control characters, which no URN has");
        }
        const urn = formatURN(this.#names, type, name);
        const vertex = { urn, construction, properties: {}, edges: new Map() };
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

    /** Encodes what providers are configured with. */
    configure(configurations: readonly Configured[]): { [pkg: string]: object } {
        const found = new Map<string, object>();
        for (const { package: pkg, position, properties } of configurations) {
            if (found.has(pkg)) {
                // Each copy of this package sees to it that it configures a package once.
                this.problems.push({ message: `${pkg}: the package is configured already`, position });
            }
            const bag = properties(() => {
                throw new TypeError(`${pkg}: a configuration cannot refer to resources`);
            });
            this.#scan(bag, () => {});
            found.set(pkg, bag);
        }
        return Object.fromEntries([...found].sort(([a], [b]) => compare(a, b)));
    }

    /** Encodes the resources, and puts them in order. */
    link(): { [urn: string]: Desired } {
        for (const vertex of this.#byResource.values()) {
            this.#encode(vertex);
        }
        const vertices = [...this.#vertices.values()].sort((a, b) => compare(a.urn, b.urn));
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

    /** Completes the reference objects, and returns the key under which they refer. */
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

    #sourceOf(position: Position | undefined): string | undefined {
        if (this.#nameOf === undefined || position === undefined) {
            return undefined;
        }
        const { file, line, column } = position;
        return `${this.#nameOf(file)}:${line}:${column}`;
    }

    #number(key: string): string {
        const n = (this.#unnamed.get(key) ?? 0) + 1;
        this.#unnamed.set(key, n);
        return `#${n}`;
    }

    #encode(vertex: Vertex): void {
        const { construction } = vertex;
        const refer: Refer = (resource, property) => {
            const object = {};
            this.#references.set(object, { resource, property });
            return object;
        };
        try {
            vertex.properties = construction.properties(refer);
            vertex.options = construction.options?.(refer);
        } catch (error) {
            const message = error instanceof Error ? error.message : String(error);
            this.problems.push({ message, position: construction.position });
            return;
        }
        const values = Object.entries(vertex.properties);
        if (vertex.options !== undefined) {
            values.push(["options.dependsOn", vertex.options]);
        }
        for (const [name, value] of values) {
            this.#scan(value, ({ resource }) => {
                const to = this.#byResource.get(resource);
                if (to === undefined) {
                    this.#fault(construction, `${name}: refers to a resource that is not of this program`);
                } else if (!vertex.edges.has(to)) {
                    vertex.edges.set(to, name);
                }
            });
        }
    }

    /** Looks for references and for keys that look like their own. */
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
        this.#fault(first!.construction, "refers to itself, so that nothing can be created first", notes);
    }

    #fault(construction: Construction, message: string, notes: Problem["notes"] = []): void {
        const { type, name, prefix, position } = construction;
        this.problems.push({ message: `${title(type, name && prefix + name)}: ${message}`, position, notes });
    }
}

/** Names a resource, an unnamed one by its number. */
function describe({ urn, construction: { type, name, prefix } }: Vertex): string {
    return name === undefined ? `${type} ${urn.slice(urn.lastIndexOf("::") + 2)}` : title(type, prefix + name);
}
